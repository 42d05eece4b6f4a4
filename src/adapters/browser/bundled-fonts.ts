import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { decompress } from 'wawoff2';
import { addCharacters, keepRegularInstance } from './font-file.ts';
import { fontsXml } from './fontconfig.ts';
import { packageFolder, type Bundle } from './unpacked-folder.ts';

/** Files of a package. `files` are matched by their path in it. */
interface FontPackage {
  name: string;
  folders: readonly string[];
  files: RegExp;
}

const EXPO_STYLES = ['400Regular', '700Bold'];
const variable = (language: string): FontPackage => ({
  name: `@fontsource-variable/noto-sans-${language}`,
  folders: ['files'],
  files: /-wght-normal\.woff2$/,
});

/**
 * The fonts of PDFs, all under the SIL Open Font License or the license of DejaVu. Each is regular and bold; the fonts
 * of Chinese, Japanese, Korean and emoji are regular, and Chromium emboldens them.
 */
const PACKAGES: readonly FontPackage[] = [
  { name: '@embedpdf/fonts-latin', folders: ['fonts'], files: /-(?:Regular|Bold|Italic|BoldItalic)\.ttf$/ },
  { name: '@embedpdf/fonts-arabic', folders: ['fonts'], files: /\.ttf$/ },
  { name: '@embedpdf/fonts-hebrew', folders: ['fonts'], files: /\.ttf$/ },
  { name: '@expo-google-fonts/noto-sans-thai', folders: EXPO_STYLES, files: /\.ttf$/ },
  {
    name: '@expo-google-fonts/noto-serif',
    folders: [...EXPO_STYLES, '400Regular_Italic', '700Bold_Italic'],
    files: /\.ttf$/,
  },
  { name: '@expo-google-fonts/noto-color-emoji', folders: ['400Regular'], files: /\.ttf$/ },
  { name: 'dejavu-fonts-ttf', folders: ['ttf'], files: /^DejaVuSans(?:Mono)?(?:-\w+)?\.ttf$/ },
  ...['sc', 'tc', 'jp', 'kr'].map(variable),
];

/** File in the folder of the fonts with the ranges of the characters that they have. */
const CHARACTERS_FILE = 'characters.json';

/** Returns the fonts of the packages. */
export function fontsBundle(): Bundle {
  const versions = PACKAGES.map(({ name }) => readFileSync(join(packageFolder(name), 'package.json'), 'utf8'));
  const version = createHash('sha256')
    .update(JSON.stringify([versions, fontsXml(''), PACKAGES.map(({ files, folders }) => [files.source, folders])]))
    .digest('hex')
    .slice(0, 12);
  return { name: `fonts-${version}`, file: 'fonts.xml', fill };
}

/** Writes the fonts, the characters that they have, and the configuration of fontconfig. */
async function fill(folder: string, home: string): Promise<void> {
  const target = join(folder, 'fonts');
  await mkdir(target);
  await chmod(target, 0o755);
  const characters = new Set<number>();
  for (const path of PACKAGES.flatMap(filesOf)) {
    const font = await readFont(path);
    addCharacters(font, characters);
    await writeReadable(join(target, basename(path).replace(/\.woff2$/, '.ttf')), font);
  }
  await writeReadable(join(folder, CHARACTERS_FILE), JSON.stringify(rangesOf(characters)));
  await writeReadable(join(folder, 'fonts.xml'), fontsXml(home));
}

const filesOf = ({ name, folders, files }: FontPackage): string[] =>
  folders
    .map((folder) => join(packageFolder(name), folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((file) => files.test(file))
        .map((file) => join(folder, file)),
    );

async function readFont(path: string): Promise<Buffer> {
  const file = await readFile(path);
  if (!path.endsWith('.woff2')) return file;
  const font = Buffer.from(await decompress(file));
  keepRegularInstance(font);
  return font;
}

/** Writes a file that all users can read, even if the umask forbids it. */
async function writeReadable(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content);
  await chmod(path, 0o644);
}

/** Returns the code points of the characters of the fonts in an unpacked folder. */
export async function readCharacters(folder: string): Promise<Set<number>> {
  const ranges = JSON.parse(await readFile(join(folder, CHARACTERS_FILE), 'utf8')) as [number, number][];
  const characters = new Set<number>();
  for (const [first, last] of ranges) for (let code = first; code <= last; code++) characters.add(code);
  return characters;
}

/** Returns the first and last numbers of the ranges of a set. */
function rangesOf(numbers: ReadonlySet<number>): [first: number, last: number][] {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && range[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

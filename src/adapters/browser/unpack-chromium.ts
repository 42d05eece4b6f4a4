import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { extract } from 'tar-stream';

/** Pieces of 2 MB: the browser is 67 MB packed and 209 MB unpacked. */
const BROTLI = { chunkSize: 2 ** 21 };
/** The letters of the package and those of the machine. Caches are in the folder of the running browser. */
const FONTS = ['/usr/share/fonts', '/usr/local/share/fonts'];
/** An unfinished folder, or one in the temporary folder: its name ends with the process that created it. */
const OWNED = /^(?:dws-)?chromium-[\d.]+\.(\d+)\.[\w-]+$/;

/** Returns the folder of the package and its version. Its code is not used: it trusts files in the temporary folder. */
function chromiumPackage(): { folder: string; version: string } {
  const folder = dirname(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')));
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { folder, version };
}

/** Returns the folder in which the packages are, where the browser is unpacked if it can be. */
export const cacheFolder = (): string => join(dirname(dirname(chromiumPackage().folder)), '.cache');

/**
 * Returns the folder of the unpacked browser in this cache folder; undefined if it is not unpacked, or could have been
 * written by others.
 */
export function unpackedIn(cache: string): string | undefined {
  const home = join(cache, `chromium-${chromiumPackage().version}`);
  return isOurs(home) && isOurs(join(home, 'chromium')) ? home : undefined;
}

/**
 * Unpacks the browser of the package into the cache folder, for all users to read. It appears complete or not at all, also
 * when several processes unpack it at once. Returns its folder.
 */
export async function unpackChromium(cache = cacheFolder()): Promise<string> {
  const home = join(cache, `chromium-${chromiumPackage().version}`);
  const unfinished = `${home}.${process.pid}.${randomUUID()}`;
  await mkdir(cache, { recursive: true });
  await sweep(cache);
  try {
    await mkdir(unfinished);
    await unpackInto(unfinished, home);
    if (!unpackedIn(cache)) await rename(unfinished, home);
  } catch (error) {
    // Another process may have been faster.
    if (!unpackedIn(cache)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return home;
}

/** Unpacks the browser into a new folder of the temporary folder, which the caller removes. Returns the folder. */
export async function unpackTemporarily(): Promise<string> {
  await sweep(tmpdir());
  const home = await mkdtemp(join(tmpdir(), `dws-chromium-${chromiumPackage().version}.${process.pid}.`));
  try {
    await unpackInto(home, home);
    return home;
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}

/** Unpacks into a folder which is called `home` in the end. Modes are set, because the umask may forbid other users to read. */
async function unpackInto(folder: string, home: string): Promise<void> {
  const packed = join(chromiumPackage().folder, 'bin');
  await chmod(folder, 0o755);
  await pipeline(
    createReadStream(join(packed, 'chromium.br')),
    createBrotliDecompress(BROTLI),
    createWriteStream(join(folder, 'chromium')),
  );
  for (const archive of ['al2023.tar.br', 'fonts.tar.br']) await unpackArchive(join(packed, archive), folder);
  const folders = [join(home, 'fonts'), ...FONTS].map((path) => `<dir>${escapeXml(path)}</dir>`);
  const cache = '<cachedir>/var/cache/fontconfig</cachedir><cachedir prefix="xdg">fontconfig</cachedir>';
  await writeFile(join(folder, 'fonts.xml'), `<fontconfig>${folders.join('')}${cache}</fontconfig>\n`);
  await chmod(join(folder, 'fonts.xml'), 0o644);
  await chmod(join(folder, 'chromium'), 0o755);
}

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Unpacks the files of an archive, each into the folder that the first part of its path names: `lib` or `fonts`. */
async function unpackArchive(archive: string, folder: string): Promise<void> {
  const entries = extract();
  const reading = pipeline(createReadStream(archive), createBrotliDecompress(BROTLI), entries);
  for await (const entry of entries) {
    const [first, ...rest] = entry.header.name.split('/');
    if (entry.header.type !== 'file' || rest.length === 0) {
      entry.resume();
      continue;
    }
    const target = join(folder, first === 'lib' ? 'lib' : 'fonts');
    await mkdir(target, { recursive: true });
    await chmod(target, 0o755);
    const file = join(target, basename(entry.header.name));
    await pipeline(entry, createWriteStream(file));
    await chmod(file, 0o755);
  }
  await reading;
}

/**
 * Returns whether a file or folder belongs to this user, root or the owner of the packages, whose code runs here anyway, and
 * others cannot write it.
 */
function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || stat.isSymbolicLink() || (stat.mode & 0o022) !== 0) return false;
  return [0, process.getuid?.(), lstatSync(chromiumPackage().folder).uid].includes(stat.uid);
}

/** Removes what ended processes of this user have left in a folder. */
async function sweep(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const pid = Number(OWNED.exec(name)?.[1] ?? 0);
    const path = join(folder, name);
    if (pid > 0 && !isAlive(pid) && lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.())
      await rm(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

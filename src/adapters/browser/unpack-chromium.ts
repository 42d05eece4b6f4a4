import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { extract } from 'tar-stream';
import { packageFolder, type Bundle } from './unpacked-folder.ts';

/** Pieces of 2 MB: the browser is 67 MB packed and 209 MB unpacked. */
const BROTLI = { chunkSize: 2 ** 21 };

/** Returns the browser of the package. The code of the package is not used: it trusts files in the temporary folder. */
export function chromiumBundle(): Bundle {
  const folder = packageFolder('@sparticuz/chromium');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { name: `chromium-${version}`, file: 'chromium', fill: (target) => unpackInto(join(folder, 'bin'), target) };
}

/** Unpacks the program and its libraries. Modes are set, because the umask may keep other users from reading. */
async function unpackInto(packed: string, folder: string): Promise<void> {
  await pipeline(
    createReadStream(join(packed, 'chromium.br')),
    createBrotliDecompress(BROTLI),
    createWriteStream(join(folder, 'chromium')),
  );
  await unpackLibraries(join(packed, 'al2023.tar.br'), join(folder, 'lib'));
  await chmod(join(folder, 'chromium'), 0o755);
}

/** Unpacks the files in the folder `lib` of an archive. */
async function unpackLibraries(archive: string, target: string): Promise<void> {
  await mkdir(target);
  await chmod(target, 0o755);
  const entries = extract();
  // An entry that arrives before the loop begins would be lost, and the archive would never be read to its end.
  const reading = pipeline(createReadStream(archive), createBrotliDecompress(BROTLI), entries);
  for await (const entry of entries) {
    if (entry.header.type !== 'file' || !entry.header.name.startsWith('lib/')) {
      entry.resume();
      continue;
    }
    const file = join(target, basename(entry.header.name));
    await pipeline(entry, createWriteStream(file));
    await chmod(file, 0o755);
  }
  await reading;
}

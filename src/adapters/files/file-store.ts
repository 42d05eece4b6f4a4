import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { tooLarge } from '../../core/errors.ts';
import type { FileStore, SavedFile } from '../../core/files.ts';
import { creationTimeOf, isUuid, newId } from '../../core/id.ts';

const UNFINISHED = '.saving';

/** Opens a store of files in one folder, named by their ids only, so that no client input becomes a path. */
export function openFileStore(dir: string): FileStore {
  const path = (id: string): string => {
    if (!isUuid(id)) throw new Error(`Not the id of a file: ${id}`);
    return join(dir, id);
  };
  const remove = async (id: string): Promise<void> => {
    await rm(path(id), { force: true });
    await rm(`${path(id)}${UNFINISHED}`, { force: true });
  };
  return {
    path,
    remove,
    read: (id) => unlessMissing(readFile(path(id)), undefined),
    open: async (id, range) => (await unlessMissing(open(path(id)), undefined))?.createReadStream(range),
    async save(content, maxBytes, id = newId()) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      try {
        const written = await write(`${path(id)}${UNFINISHED}`, content, maxBytes);
        await rename(`${path(id)}${UNFINISHED}`, path(id));
        await sync(dir);
        return { id, ...written };
      } catch (error) {
        await remove(id);
        throw error;
      }
    },
    async saveAgain(savedId) {
      const id = newId();
      try {
        await link(path(savedId), path(id));
      } catch {
        return undefined;
      }
      await sync(dir);
      return { id, ...(await digest(path(id))) };
    },
    async writtenAt(id) {
      const found =
        (await unlessMissing(stat(path(id)), undefined)) ??
        (await unlessMissing(stat(`${path(id)}${UNFINISHED}`), undefined));
      return found?.mtimeMs;
    },
    async list() {
      const names = await unlessMissing(readdir(dir), []);
      const ids = new Set(
        names.map((name) => (name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name)).filter(isUuid),
      );
      return [...ids].map((id) => ({ id, createdAt: creationTimeOf(id) }));
    },
  };
}

/** Returns the result of a reading, or the other value if the file does not exist. */
const unlessMissing = <T, M>(reading: Promise<T>, missing: M): Promise<T | M> =>
  reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return missing;
    throw error;
  });

/** Writes all data and syncs it to disk. */
async function write(
  path: string,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Omit<SavedFile, 'id'>> {
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of content) {
      size += chunk.byteLength;
      if (maxBytes > 0 && size > maxBytes) throw tooLarge(`The file is larger than the maximum of ${maxBytes} bytes`);
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { size, sha256: hash.digest('hex') };
}

async function digest(path: string): Promise<Omit<SavedFile, 'id'>> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    hash.update(chunk);
  }
  return { size, sha256: hash.digest('hex') };
}

async function sync(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the bytes that are free for the service on the disk of a folder. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

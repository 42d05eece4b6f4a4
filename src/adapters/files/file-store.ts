import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tooLarge } from '../../core/errors.ts';
import type { FileStore, SavedFile } from '../../core/files.ts';
import { bornAt, isUuid, newId } from '../../core/id.ts';

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
    async save(content, maxBytes) {
      const id = newId();
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
    async list() {
      const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      const ids = new Set(
        names.map((name) => (name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name)).filter(isUuid),
      );
      return [...ids].map((id) => ({ id, bornAt: bornAt(id) }));
    },
  };
}

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
      if (maxBytes > 0 && size > maxBytes)
        throw tooLarge(`The file has more than ${maxBytes} bytes, the most that can be taken`);
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
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

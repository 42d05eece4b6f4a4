import { copyFile, constants, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerationId } from '../../../core/dataset-index.ts';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LOADING = '.loading';

/** File of a generation's rows. */
export const ROWS = 'rows.duckdb';

/** Returns a path as a literal, because some statements accept no other expression. */
export const quotePath = (path: string) => `'${path.replaceAll("'", "''")}'`;

/** Returns the file with the rows of a complete generation. */
export const rowsFile = (dir: string, id: GenerationId) => join(folder(dir, id), ROWS);

/** Returns the folder of a complete generation. Paths are built from ids only, so none leaves `dir`. */
export function folder(dir: string, id: GenerationId): string {
  if (!ID.test(id)) throw new Error(`Not the id of a generation: ${id}`);
  return join(dir, id);
}

/** Returns the folder of a generation that is being loaded. */
export const loadingFolder = (dir: string, id: GenerationId) => `${folder(dir, id)}${LOADING}`;

/** Returns the bytes of the files of a generation that is being loaded. They may be removed at any time. */
export async function loadingBytes(dir: string, id: GenerationId): Promise<number> {
  const loading = loadingFolder(dir, id);
  const names = await readdir(loading, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(loading, name)).then(
      (file) => (file.isFile() ? file.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Creates an empty folder for a new generation, removing the folder of an earlier attempt. */
export async function beginFolder(dir: string, id: GenerationId): Promise<string> {
  const loading = loadingFolder(dir, id);
  await rm(loading, { recursive: true, force: true });
  await mkdir(loading, { recursive: true });
  return loading;
}

/**
 * Publishes a loaded folder as the generation, in one step that survives a crash: files are synced before their folder
 * gets its name. Files that are not part of the index (segments, temporary files) are removed.
 */
export async function publishFolder(dir: string, id: GenerationId): Promise<void> {
  const loading = loadingFolder(dir, id);
  for (const name of await readdir(loading)) {
    if (name.endsWith('.duckdb')) await sync(join(loading, name));
    else await rm(join(loading, name), { recursive: true });
  }
  await sync(loading);
  await rename(loading, folder(dir, id));
  await sync(dir);
}

/**
 * Creates a generation with the same rows by hard links, without copying a row. The file system counts the references, so
 * a crash cannot falsify the count, and dropping either generation is one unlink. On a file system without links
 * the file is copied, copy-on-write if the file system can. A failed clone leaves nothing.
 */
export async function cloneFolder(dir: string, from: GenerationId, to: GenerationId): Promise<void> {
  const loading = await beginFolder(dir, to);
  try {
    for (const name of (await readdir(folder(dir, from))).filter((file) => file.endsWith('.duckdb'))) {
      const source = join(folder(dir, from), name);
      await link(source, join(loading, name)).catch(() =>
        copyFile(source, join(loading, name), constants.COPYFILE_FICLONE),
      );
    }
    await publishFolder(dir, to);
  } catch (error) {
    await rm(loading, { recursive: true, force: true });
    throw error;
  }
}

/** Removes a generation, complete or not. It stops being complete first, so that a crash leaves no damaged one. */
export async function dropFolder(dir: string, id: GenerationId): Promise<void> {
  const loading = loadingFolder(dir, id);
  await rm(loading, { recursive: true, force: true });
  await rename(folder(dir, id), loading).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(loading, { recursive: true, force: true });
}

/** Lists the generations in `dir`. */
export async function listFolders(dir: string): Promise<{ id: GenerationId; complete: boolean }[]> {
  const names = await readdir(dir);
  return names.flatMap((name) => {
    const complete = !name.endsWith(LOADING);
    const id = complete ? name : name.slice(0, -LOADING.length);
    return ID.test(id) ? [{ id, complete }] : [];
  });
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

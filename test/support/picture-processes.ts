import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '../operation/fixture.ts';

/** Returns the ids of the picture processes that this process has started and that run. */
export async function pictureProcesses(): Promise<number[]> {
  const args = ['-P', String(process.pid), '-f', 'picture-program'];
  // The status of `pgrep` is 1 if there are none.
  const { stdout } = await promisify(execFile)('pgrep', args).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** Waits until a picture process of this process runs. Returns its id. */
export const awaitPictureProcess = (): Promise<number> => eventually(async () => (await pictureProcesses())[0]);

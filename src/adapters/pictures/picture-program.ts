/**
 * Picture process: reads one uploaded picture, so that no malicious one blocks or ends a process of the service, and
 * only this process has the memory of the libraries. It ends when the parent's channel closes and when its memory
 * exceeds the limit.
 */
import { readFile } from 'node:fs/promises';
import { clientErrorOf, stackOf } from '../process/program-error.ts';
import { showSpare } from '../process/spare-process.ts';
import { MEMORY_MESSAGE, type FromPictureProcess, type ToPictureProcess } from './picture-task.ts';

const MAX_MEMORY_BYTES = 768 * 1024 ** 2;
const WATCH_MS = 20;

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

async function run({ source, drawings }: Extract<ToPictureProcess, { kind: 'draw' }>): Promise<FromPictureProcess> {
  try {
    const { drawPicture } = await import('./draw.ts');
    const bytes = typeof source === 'string' ? await readFile(source) : Buffer.from(source);
    return { kind: 'result', picture: await drawPicture(bytes, drawings) };
  } catch (error) {
    const known = clientErrorOf(error);
    if (!known) return { kind: 'broken', message: stackOf(error) };
    return { kind: 'refused', message: known.message, isTooLarge: known.status === 413 };
  }
}

process.umask(0o077);
process.on('message', (message: ToPictureProcess) => {
  showSpare(message.kind === 'prepare');
  // A failure is an error of the task.
  if (message.kind === 'prepare') void import('./draw.ts').catch(() => {});
  else void run(message).then((result) => process.send?.(result));
});
process.on('disconnect', end);
// The parent may have ended before.
if (!process.connected) end();
process.on('SIGTERM', end);
setInterval(() => {
  if (process.memoryUsage.rss() > MAX_MEMORY_BYTES)
    process.send?.(
      { kind: 'refused', message: MEMORY_MESSAGE, isTooLarge: false } satisfies FromPictureProcess,
      undefined,
      undefined,
      end,
    );
}, WATCH_MS);

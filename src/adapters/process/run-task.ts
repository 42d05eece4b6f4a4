import type { ChildProcess, Serializable } from 'node:child_process';

/** Maximum length of the stderr of a crashed process in the log. */
const MAX_STDERR_LENGTH = 4000;

/**
 * A process that could not be started, or ended before its result. The message states how, with the end of its stderr.
 */
export class ProcessEnded extends Error {}

/**
 * Sends a task to a child process and returns its first message that is a result. The process has ended when this settles,
 * and an abort kills it. Throws `ProcessEnded`, or the reason of the signal.
 */
export async function runTask<M>(
  child: ChildProcess,
  task: Serializable,
  signal: AbortSignal,
  isResult: (message: M) => boolean = () => true,
): Promise<M> {
  const kill = () => {
    child.kill('SIGKILL');
  };
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  signal.addEventListener('abort', kill, { once: true });
  try {
    signal.throwIfAborted();
    const message = resultOf(child, isResult);
    child.send(task, () => {});
    return await message;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    await exited;
  }
}

/** Returns the first result among the messages of a process. Rejects if it ends without one or cannot be started. */
function resultOf<M>(child: ChildProcess, isResult: (message: M) => boolean): Promise<M> {
  let stderrTail = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-MAX_STDERR_LENGTH);
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      if (isResult(message as M)) resolve(message as M);
    });
    child.once('error', (error) => reject(new ProcessEnded('It could not be started', { cause: error })));
    child.once('exit', (code, signal) => {
      const rejectEnded = () => reject(new ProcessEnded(`${signal ?? `status ${code}`}: ${stderrTail}`));
      // Its last message may still be in the channel.
      if (child.connected) child.once('disconnect', rejectEnded);
      else rejectEnded();
    });
  });
}

import { fork, type ChildProcess } from 'node:child_process';
import { badInput, tooLarge } from '../../core/errors.ts';
import { FairGate, type Caller } from '../../core/fair-gate.ts';
import type { PictureShape, PictureSource, PreparedPicture } from '../../core/pictures.ts';
import { childEnvironment } from '../../core/process-environment.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { lowerProcessPriority } from '../process/priority.ts';
import { programBeside } from '../process/program.ts';
import { SpareProcess } from '../process/spare-process.ts';
import type { FromPictureProcess, ToPictureProcess } from './picture-task.ts';

const PROGRAM = programBeside(import.meta.url, 'picture-program');
/** Each task is a process with up to 768 MiB. */
const GATE = FairGate.shared({ places: 2, maxWaiting: 100, taskNoun: 'uploads of pictures' });
/** A large photo takes a second. */
const TIMEOUT_MS = 20_000;
const HEAP_MB = 256;
const SPARE = new SpareProcess(startProcess, { kind: 'prepare' } satisfies ToPictureProcess);

/**
 * Checks a picture and draws it in these shapes, in a process of its own. Throws BAD_USER_INPUT for what is no supported
 * picture, could harm those who open it, or takes too much memory or time, and PAYLOAD_TOO_LARGE for an SVG that is too large
 * when it is written again. Throws like `FairGate`.
 */
export const preparePicture = (
  source: PictureSource,
  shapes: PictureShape[],
  caller: Caller,
  signal: AbortSignal,
): Promise<PreparedPicture> =>
  GATE.run(caller, signal, () => {
    const timeoutError = () => badInput(`The picture takes longer than ${TIMEOUT_MS / 1000} seconds to draw`);
    return withTimeout(TIMEOUT_MS, timeoutError, [signal], (stop) => runTask({ kind: 'draw', source, shapes }, stop));
  });

/** Runs one task in a process, which has ended when this settles. An abort kills it. */
async function runTask(task: ToPictureProcess, signal: AbortSignal): Promise<PreparedPicture> {
  const child = SPARE.take();
  const kill = () => {
    child.kill('SIGKILL');
  };
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  signal.addEventListener('abort', kill, { once: true });
  try {
    signal.throwIfAborted();
    const message = messageOf(child);
    child.send(task, () => {});
    return resultOf(await message);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    await exited;
  }
}

/** Returns the first message of a process; undefined if it ends without one. Rejects if it cannot be started. */
const messageOf = (child: ChildProcess): Promise<FromPictureProcess | undefined> =>
  new Promise((resolve, reject) => {
    child.once('message', (message: FromPictureProcess) => resolve(message));
    child.once('error', reject);
    // Its last message may still be in the channel.
    child.once('exit', () =>
      child.connected ? child.once('disconnect', () => resolve(undefined)) : resolve(undefined),
    );
  });

function resultOf(message: FromPictureProcess | undefined): PreparedPicture {
  if (message === undefined) throw badInput('The picture is damaged: the process that reads it ended');
  if (message.kind === 'refused') throw (message.isTooLarge ? tooLarge : badInput)(message.message);
  if (message.kind === 'broken') throw new Error(`The picture process failed: ${message.message}`);
  return message.picture;
}

function startProcess(): ChildProcess {
  const child = fork(PROGRAM, {
    // In a separate process group, so that Ctrl-C reaches only the parent.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MB}`],
    env: childEnvironment(),
  });
  lowerProcessPriority(child.pid);
  return child;
}

import { badInput, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { FairGate, type Caller } from '../../core/fair-gate.ts';
import type { Drawing, PictureSource, PreparedPicture } from '../../core/pictures.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { programBeside } from '../process/program.ts';
import { ProcessEnded, runTask } from '../process/run-task.ts';
import { SpareProcess } from '../process/spare-process.ts';
import { startProgram } from '../process/start-program.ts';
import { MEMORY_MESSAGE, type FromPictureProcess, type ToPictureProcess } from './picture-task.ts';

const PROGRAM = programBeside(import.meta.url, 'picture-program');
/** Each task is a process with up to 768 MiB. */
const GATE = FairGate.shared({ places: 2, maxWaiting: 100, taskNoun: 'uploads of pictures' });
/** A large photo takes a second. */
const TIMEOUT_MS = 20_000;
const HEAP_MB = 256;
/** Message of V8 when it ends a process whose heap is exhausted. */
const HEAP_EXHAUSTED = /out of memory|Allocation failed/;
const SPARE = new SpareProcess(() => startProgram(PROGRAM, [`--max-old-space-size=${HEAP_MB}`]), {
  kind: 'prepare',
} satisfies ToPictureProcess);

/**
 * Checks a picture and draws from it, in a process of its own. Throws BAD_USER_INPUT for a file that is not a supported
 * picture, could harm those who open it, or takes too much memory or time. Throws PAYLOAD_TOO_LARGE for an SVG that is
 * too large when it is written again, and UPSTREAM_FAILED if the process ends unexpectedly. Throws like `FairGate`.
 */
export const preparePicture = <Name extends string>(
  source: PictureSource,
  drawings: Readonly<Record<Name, Drawing>>,
  caller: Caller,
  signal: AbortSignal,
): Promise<PreparedPicture<Name>> =>
  GATE.run(caller, signal, () => {
    const timeoutError = () => badInput(`The picture takes longer than ${TIMEOUT_MS / 1000} seconds to draw`);
    return withTimeout(TIMEOUT_MS, timeoutError, [signal], (stop) =>
      drawInProcess({ kind: 'draw', source, drawings }, stop),
    );
  });

/** Runs one task in a process, which has ended when this settles. An abort kills it. */
async function drawInProcess(task: ToPictureProcess, signal: AbortSignal): Promise<PreparedPicture<string>> {
  try {
    return resultOf(await runTask<FromPictureProcess>(SPARE.take(), task, signal));
  } catch (error) {
    throw error instanceof ProcessEnded ? endedError(error) : error;
  }
}

const endedError = (cause: Error): Error =>
  HEAP_EXHAUSTED.test(cause.message)
    ? badInput(MEMORY_MESSAGE, { cause })
    : upstreamFailed('The picture could not be read: its process ended unexpectedly', { cause });

function resultOf(message: FromPictureProcess): PreparedPicture<string> {
  if (message.kind === 'refused') throw (message.isTooLarge ? tooLarge : badInput)(message.message);
  if (message.kind === 'broken') throw new Error(`The picture process failed: ${message.message}`);
  return message.picture;
}

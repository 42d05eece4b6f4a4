import { Worker } from 'node:worker_threads';
import { FairGate, type Caller } from '../../core/fair-gate.ts';
import type { Picture } from '../../core/visual/picture.ts';
import { programBeside } from '../process/program.ts';

/** Result of the drawing thread: a picture, or the stack of the error. */
export interface DrawResult {
  svg?: string;
  error?: string;
}

const PROGRAM = programBeside(import.meta.url, 'draw-worker');
/** The thread draws one picture at a time. One GraphQL document can request all those of a dataset. */
const GATE = FairGate.shared({ places: 1, maxWaiting: 256, taskNoun: 'pictures' });
/** Milliseconds without a picture after which the thread ends and frees the memory of the chart library. */
const IDLE = 60_000;
const HEAP_MB = 256;

interface Thread {
  worker: Worker;
  /** The picture that is being drawn. */
  drawing?: PromiseWithResolvers<string>;
  idle?: NodeJS.Timeout;
}

let thread: Thread | undefined;

/** Draws a picture as SVG in a worker thread, because a large one takes a tenth of a second. Throws like `FairGate`. */
export const drawPicture = (picture: Picture, caller: Caller, signal: AbortSignal): Promise<string> =>
  GATE.run(caller, signal, () => draw(picture));

function draw(picture: Picture): Promise<string> {
  thread ??= start();
  clearTimeout(thread.idle);
  const drawing = (thread.drawing = Promise.withResolvers<string>());
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.worker.postMessage(picture);
  return drawing.promise;
}

function start(): Thread {
  const worker = new Worker(PROGRAM, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: {},
  });
  const started: Thread = { worker };
  // The request that waits for a picture keeps the process running.
  worker.unref();
  const end = (error: Error) => {
    if (thread === started) thread = undefined;
    started.drawing?.reject(error);
  };
  const stop = () => {
    if (thread === started) thread = undefined;
    void worker.terminate();
  };
  worker.on('message', ({ svg, error }: DrawResult) => {
    if (svg === undefined) started.drawing?.reject(new Error(`The picture could not be drawn: ${error}`));
    else started.drawing?.resolve(svg);
    started.idle = setTimeout(stop, IDLE).unref();
  });
  worker.on('error', end);
  worker.on('exit', (code) => end(new Error(`The drawing thread ended with ${code}`)));
  return started;
}

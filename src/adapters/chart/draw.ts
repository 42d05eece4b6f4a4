import { Worker } from 'node:worker_threads';
import { FairGate, type Caller } from '../../core/fair-gate.ts';
import type { Picture } from '../../core/visual/picture.ts';

/** Request to the drawing thread. */
export interface DrawJob {
  id: number;
  picture: Picture;
}
export interface DrawResult {
  id: number;
  svg?: string;
  error?: string;
}

/** The worker's program: compiled beside the compiled parent, or a source run by Node's type stripping. */
const PROGRAM = new URL(`./draw-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
/** The thread draws one picture at a time. One GraphQL document can request all those of a dataset. */
const GATE = new FairGate({ places: 1, maxWaiting: 256, taskNoun: 'pictures' });
/** Milliseconds without a picture after which the thread ends and frees the memory of the chart library. */
const IDLE = 60_000;
const HEAP_MB = 256;

interface Thread {
  worker: Worker;
  waiting: Map<number, PromiseWithResolvers<string>>;
  idle?: NodeJS.Timeout;
}

let thread: Thread | undefined;
let lastId = 0;

/** Draws a picture as SVG in a worker thread, because a large one takes a tenth of a second. Throws like `FairGate`. */
export const drawPicture = (picture: Picture, caller: Caller, signal: AbortSignal): Promise<string> =>
  GATE.run(caller, signal, () => draw(picture));

function draw(picture: Picture): Promise<string> {
  thread ??= start();
  const { worker, waiting, idle } = thread;
  clearTimeout(idle);
  const drawn = Promise.withResolvers<string>();
  const id = ++lastId;
  waiting.set(id, drawn);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage({ id, picture } satisfies DrawJob);
  return drawn.promise;
}

function start(): Thread {
  const worker = new Worker(PROGRAM, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: {},
  });
  const made: Thread = { worker, waiting: new Map() };
  // The request that waits for a picture keeps the process running.
  worker.unref();
  const end = (error: Error) => {
    if (thread === made) thread = undefined;
    for (const { reject } of made.waiting.values()) reject(error);
    made.waiting.clear();
  };
  const stop = () => {
    if (thread === made) thread = undefined;
    void worker.terminate();
  };
  worker.on('message', ({ id, svg, error }: DrawResult) => {
    const drawn = made.waiting.get(id);
    made.waiting.delete(id);
    if (svg === undefined) drawn?.reject(new Error(`The picture could not be drawn: ${error}`));
    else drawn?.resolve(svg);
    if (made.waiting.size === 0) made.idle = setTimeout(stop, IDLE).unref();
  });
  worker.on('error', end);
  worker.on('exit', (code) => end(new Error(`The drawing thread ended with ${code}`)));
  return made;
}

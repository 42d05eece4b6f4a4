import { FairGate, type Caller } from '../../core/fair-gate.ts';
import type { Picture } from '../../core/visual/picture.ts';
import { programBeside } from '../process/program.ts';
import { TaskThread } from '../process/task-thread.ts';

/** The thread draws one picture at a time. One GraphQL document can request all pictures of a dataset. */
const GATE = FairGate.shared({ places: 1, maxWaiting: 256, taskNoun: 'pictures' });
/** When it is idle, the thread frees the memory of the chart library. */
const THREAD = new TaskThread<Picture, string>(programBeside(import.meta.url, 'draw-worker'), {
  heapMb: 256,
  idleMs: 60_000,
  failure: 'The picture could not be drawn',
});

/** Draws a picture as SVG in a worker thread, because a large one takes a tenth of a second. Throws like `FairGate`. */
export const drawPicture = (picture: Picture, caller: Caller, signal: AbortSignal): Promise<string> =>
  GATE.run(caller, signal, () => THREAD.run(picture));

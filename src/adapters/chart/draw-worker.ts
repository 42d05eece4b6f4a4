/** Worker thread that draws. The chart library is loaded only here. */
import { parentPort } from 'node:worker_threads';
import type { DrawResult, DrawJob } from './draw.ts';
import { render } from './render.ts';

parentPort!.on('message', ({ id, picture }: DrawJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(drawResult(id, () => render(picture)));
});

function drawResult(id: number, draw: () => string): DrawResult {
  try {
    return { id, svg: draw() };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

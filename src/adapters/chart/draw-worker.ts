/** Worker thread that draws. The chart library is loaded only here. */
import { parentPort } from 'node:worker_threads';
import type { Picture } from '../../core/visual/picture.ts';
import { stackOf } from '../process/program-error.ts';
import type { DrawResult } from './draw.ts';
import { render } from './render.ts';

parentPort!.on('message', (picture: Picture) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(draw(picture));
});

function draw(picture: Picture): DrawResult {
  try {
    return { svg: render(picture) };
  } catch (error) {
    return { error: stackOf(error) };
  }
}

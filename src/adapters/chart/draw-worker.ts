/** Worker thread that draws. The chart library is loaded only here. */
import type { Picture } from '../../core/visual/picture.ts';
import { serveTasks } from '../process/serve-tasks.ts';
import { render } from './render.ts';

serveTasks<Picture, string>(render);

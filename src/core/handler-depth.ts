import { unavailable } from './errors.ts';

/** Maximum number of handlers that call each other. The last one may be a template. */
export const MAX_HANDLER_DEPTH = 3;

/** Returns the error of a handler that is called by too many others. */
export const handlersTooDeep = () =>
  unavailable(`Handlers call view, _hook and _render at most ${MAX_HANDLER_DEPTH} deep`);

import { unavailable } from './errors.ts';

/** Maximum number of handlers, the last of which may be a template, that call each other. */
export const MAX_HANDLER_DEPTH = 3;

/** Returns the error of a handler that is called by too many others. */
export const handlersTooDeep = () =>
  unavailable(`Handlers call view, _hook and _render at most ${MAX_HANDLER_DEPTH} deep`);

import type { SandboxPlace } from '../../core/sandbox.ts';

const MAX_PLACES = 10;
/** A frame of a stack: `at name (module:line:column)` or `at module:line:column`, with or without `async`. */
const FRAME = /^ {4}at (.+?):(\d+):(\d+)\)?$/;
/** The place of a syntax error: `module:line` before the message, or a frame. */
const NO_COLUMN = /^(.+?):(\d+)$/;

/** Returns the places in the modules of a program that a stack names, the innermost first. */
export function placesIn(stack: string, modules: Readonly<Record<string, string>>): SandboxPlace[] {
  const places: SandboxPlace[] = [];
  for (const text of stack.split('\n')) {
    const [, named, line, column] = FRAME.exec(text) ?? NO_COLUMN.exec(text) ?? [];
    const module = column === undefined ? named : named!.slice(named!.lastIndexOf('(') + 1);
    if (module === undefined || !Object.hasOwn(modules, module)) continue;
    places.push({ module, line: Number(line), column: Number(column ?? 1) });
    if (places.length === MAX_PLACES) break;
  }
  return places;
}

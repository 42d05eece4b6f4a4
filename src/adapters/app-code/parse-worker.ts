/** Worker thread that parses modules of apps. It never runs them. */
import { stripTypeScriptTypes } from 'node:module';
import * as vm from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import type { ModuleMistake, ParsedModule } from './parse-modules.ts';

/** The part of `vm` that exists only with `--experimental-vm-modules`. */
const { SourceTextModule } = vm as unknown as {
  SourceTextModule: new (source: string) => { dependencySpecifiers: readonly string[] };
};

/** The beginning of the stack of an error in TypeScript: the line, up to two lines of code, and the column as marks. */
const PLACE = /^:(\d+)\n/;
const MARKS = /^( *)\^+$/m;

for (const [path, source] of workerData as [string, string][])
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage([path, parse(path, source)]);

/** Throws if the parser itself fails, e.g. at code that nests too deeply. The parser is then not used again. */
function parse(path: string, source: string): ParsedModule {
  const text = source.replace(/^\uFEFF/, '');
  try {
    const code = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
    return { code, imports: importsOf(code) };
  } catch (error) {
    if (!String((error as { code?: unknown }).code).endsWith('_TYPESCRIPT_SYNTAX')) throw error;
    return { mistake: mistakeOf(error as Error) };
  }
}

/** Returns the imports of a module; null for a syntax error, whose place V8 does not reveal here. */
function importsOf(code: string): readonly string[] | null {
  try {
    return [...new SourceTextModule(code).dependencySpecifiers];
  } catch {
    return null;
  }
}

function mistakeOf({ message, stack = '' }: Error): ModuleMistake {
  const line = PLACE.exec(stack)?.[1];
  const marks = MARKS.exec(stack)?.[1];
  return {
    message: message.split('\n')[0]!,
    line: line === undefined ? null : Number(line),
    column: line === undefined || marks === undefined ? null : marks.length + 1,
  };
}

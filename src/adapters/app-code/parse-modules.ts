import { Worker } from 'node:worker_threads';
import { timedOut } from '../../core/errors.ts';
import { FairGate, type Caller } from '../../core/fair-gate.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { programBeside } from '../process/program.ts';

/** Why the types of a module cannot be removed, and where. */
export interface ModuleMistake {
  message: string;
  line: number | null;
  column: number | null;
}

/**
 * A module whose types were removed, with its imports (null after a syntax error, which running it reveals), or the
 * mistake in its types.
 */
export type ParsedModule = { code: string; imports: readonly string[] | null } | { mistake: ModuleMistake };

const PROGRAM = programBeside(import.meta.url, 'parse-worker');
const GATE = FairGate.shared({ places: 1, maxWaiting: 64, taskNoun: 'modules to parse' });
const HEAP_MB = 512;
const TIMEOUT_MS = 20_000;

const UNPARSABLE: ParsedModule = { mistake: { message: 'The module cannot be parsed', line: null, column: null } };

/**
 * Removes the types of TypeScript modules and finds the imports of all modules, without running them. Lines and columns
 * stay. Runs in a thread of its own. Throws TIMEOUT, and like `FairGate`.
 */
export const parseModules = (
  sources: ReadonlyMap<string, string>,
  caller: Caller,
  signal: AbortSignal,
): Promise<Map<string, ParsedModule>> =>
  GATE.run(caller, signal, () =>
    withTimeout(
      TIMEOUT_MS,
      () => timedOut('It takes too long to parse the code of the app'),
      [signal],
      (timeLimit) => parseAll(sources, timeLimit),
    ),
  );

async function parseAll(sources: ReadonlyMap<string, string>, signal: AbortSignal): Promise<Map<string, ParsedModule>> {
  const parsed = new Map<string, ParsedModule>();
  for (;;) {
    const rest = [...sources].filter(([path]) => !parsed.has(path));
    if (rest.length === 0) return parsed;
    await parse(rest, parsed, signal);
    // A module that ends the thread is not parsed again; the others are.
    const unparsable = rest.find(([path]) => !parsed.has(path));
    if (unparsable) parsed.set(unparsable[0], UNPARSABLE);
  }
}

/** Parses modules in a thread until all are parsed or one of them ends it. */
async function parse(
  modules: readonly [string, string][],
  parsed: Map<string, ParsedModule>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const worker = new Worker(PROGRAM, {
    workerData: modules,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    env: {},
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => void worker.terminate();
  worker.on('message', ([path, module]: [string, ParsedModule]) => parsed.set(path, module));
  worker.on('error', () => {});
  worker.on('exit', () => resolve());
  signal.addEventListener('abort', stop);
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
}

import { Worker } from 'node:worker_threads';
import { timedOut, upstreamFailed } from '../../core/errors.ts';
import { FairGate, type Caller } from '../../core/fair-gate.ts';
import { programBeside } from '../process/program.ts';

/**
 * A module whose types were removed, with what it imports (null after a syntax error, which running it reveals), or the
 * mistake in its types.
 */
export type ParsedModule =
  | { code: string; imports: readonly string[] | null }
  | { mistake: { message: string; line: number | null; column: number | null } };

const PROGRAM = programBeside(import.meta.url, 'parse-worker');
const GATE = FairGate.shared({ places: 1, maxWaiting: 64, taskNoun: 'modules to parse' });
const HEAP_MB = 512;
const TIMEOUT_MS = 20_000;

/**
 * Removes the types of TypeScript modules and finds the imports of all modules, without running them. Lines and columns
 * stay. Runs in a thread of its own. Throws TIMEOUT, UPSTREAM_FAILED for modules that exceed the memory, and like
 * `FairGate`.
 */
export const parseModules = (
  sources: Readonly<Record<string, string>>,
  caller: Caller,
  signal: AbortSignal,
): Promise<Map<string, ParsedModule>> => GATE.run(caller, signal, () => parse(sources, signal));

async function parse(
  sources: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Map<string, ParsedModule>> {
  const worker = new Worker(PROGRAM, {
    workerData: sources,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    env: {},
  });
  const { promise, resolve, reject } = Promise.withResolvers<Map<string, ParsedModule>>();
  const fail = (cause: unknown) => reject(upstreamFailed('The code of the app cannot be parsed', { cause }));
  const abort = () => reject(signal.reason as Error);
  const timer = setTimeout(() => reject(timedOut('It takes too long to parse the code of the app')), TIMEOUT_MS);
  worker.on('message', resolve);
  worker.on('error', fail);
  worker.on('exit', fail);
  signal.addEventListener('abort', abort);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

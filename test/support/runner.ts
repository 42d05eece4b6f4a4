import { TestRunner, vi, type RunnerTestSuite, type TestRunnerConfig } from 'vitest';

/** Handles that a test file may not leave behind in its process, because they keep it running, by the names of Node. */
const HANDLES: Readonly<Record<string, string>> = { TCPServerWrap: 'server', ProcessWrap: 'child process' };

/** Time for closed servers and killed processes to end. Only a file that fails takes it. */
const ENDING_MS = 20_000;

/**
 * Fails a test file that leaves something behind in the process, which the next file of the shared processes would meet:
 * an open server, a running child process, a fake clock, another working folder or changed environment variables.
 */
export default class LeavesNothingBehind extends TestRunner {
  readonly #config: TestRunnerConfig;
  #before = stateOf();

  constructor(config: TestRunnerConfig) {
    super(config);
    this.#config = config;
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (isFile(suite)) this.#before = stateOf();
    await super.onBeforeRunSuite(suite);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (isFile(suite) && !this.#config.isolate) {
      // As Vitest restores mocks at the end of a file.
      vi.unstubAllEnvs();
      const left = await leftBehind(this.#before);
      if (left.length > 0) {
        const message = `${suite.name} leaves behind: ${left.join(', ')}. See CONTRIBUTING.md#tests.`;
        suite.result = {
          ...suite.result!,
          state: 'fail',
          errors: [...(suite.result?.errors ?? []), { name: 'Error', message }],
        };
      }
    }
    await super.onAfterRunSuite(suite);
  }
}

const isFile = (suite: RunnerTestSuite): boolean => (suite.file as RunnerTestSuite) === suite;

/** State of a process that a test file may not change. */
export interface State {
  environment: NodeJS.ProcessEnv;
  folder: string;
  handles: Map<string, number>;
}

/** Returns what `leftBehind` compares. */
export const stateOf = (): State => ({ environment: { ...process.env }, folder: process.cwd(), handles: handles() });

/** Counts the handles of each kind that keep this process running. */
function handles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/**
 * Names what was left behind since `before`, and restores what can be restored. Servers that close and processes that
 * end have `endingMs` for that.
 */
export async function leftBehind(before: State, endingMs = ENDING_MS): Promise<string[]> {
  const left: string[] = [];
  if (vi.isFakeTimers()) {
    left.push('a fake clock');
    vi.useRealTimers();
  }
  for (const name of new Set([...Object.keys(before.environment), ...Object.keys(process.env)])) {
    if (process.env[name] === before.environment[name]) continue;
    left.push(`the variable ${name}`);
    if (before.environment[name] === undefined) delete process.env[name];
    else process.env[name] = before.environment[name];
  }
  if (process.cwd() !== before.folder) {
    left.push('another working folder');
    process.chdir(before.folder);
  }
  const open = () =>
    Object.entries(HANDLES).flatMap(([name, noun]) => {
      const more = (handles().get(name) ?? 0) - (before.handles.get(name) ?? 0);
      return more > 0 ? [`${noun} (${more})`] : [];
    });
  for (const end = performance.now() + endingMs; open().length > 0 && performance.now() < end;)
    await new Promise((wake) => setTimeout(wake, 20));
  return [...left, ...open()];
}

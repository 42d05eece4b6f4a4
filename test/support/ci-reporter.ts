import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with the plain line `N passed, N failed` that build servers parse; a broken file or hook counts as a
 * failure.
 */
export class CiReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const broken = modules
      .flatMap((module) => [module, ...module.children.allSuites()])
      .filter((place) => place.errors().length > 0);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // After the summary of the default reporter, which writes at the end of this same event.
    setImmediate(() =>
      process.stdout.write(
        `\n${count('passed')} passed, ${count('failed') + broken.length + unhandled.length} failed\n`,
      ),
    );
  }
}

import type { Reporter, TestModule } from 'vitest/node';

/** Closes a run with the plain line `N passed, N failed` that build servers look for; a file or hook that broke counts as a failure. */
export class CiReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const broken = modules
      .flatMap((module) => [module, ...module.children.allSuites()])
      .filter((place) => place.errors().length > 0);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // After the summary of the usual reporter, which writes at the end of this same event.
    setImmediate(() =>
      process.stdout.write(
        `\n${count('passed')} passed, ${count('failed') + broken.length + unhandled.length} failed\n`,
      ),
    );
  }
}

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { CiReporter } from './test/support/ci-reporter.ts';

/**
 * Tests that measure or change their process, e.g. its metrics, child processes or schema: each file has a process of its
 * own, and runs the programs of the service from their sources, as `npm run dev` does. All other files share
 * three processes, which import the service once, and run the compiled programs. See CONTRIBUTING.md#tests.
 */
const OWN_PROCESS = [
  'test/{browser,fairness,pictures,sandbox}/*.test.ts',
  'test/{app/app-code,core/read-path,database/entity-metadata,visual/visual-image}.test.ts',
  'test/identity/stalled-notifications.test.ts',
  'test/dataset-index/{duckdb-visible-first,interruptible,side-by-side-search}.test.ts',
  'test/drivers/{driver-*-stopping,driver-sqlite-types,embedded-postgres,spare-process}.test.ts',
  'test/{dataset/dataset-refresh,operation/{loader-reuse,queue-shares,source-relay,survival}}.test.ts',
  'test/server/{loaded-modules,metrics,tracing}.test.ts',
  'test/**/*-{hostile,memory}.test.ts',
];

const ALL = ['test/**/*.test.ts'];

/** Everything must see one copy of graphql: the CommonJS one that TypeGraphQL loads. */
const ONE_GRAPHQL = { find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') };

const COMPILED_PROGRAMS = {
  find: /^.*\/process\/program\.ts$/,
  replacement: join(import.meta.dirname, 'test/support/built-program.ts'),
};

const project = (
  name: string,
  test: NonNullable<TestProjectInlineConfiguration['test']>,
): TestProjectInlineConfiguration => ({
  resolve: { alias: test.isolate === false ? [ONE_GRAPHQL, COMPILED_PROGRAMS] : [ONE_GRAPHQL] },
  test: {
    ...test,
    name,
    pool: 'forks',
    runner: 'test/support/runner.ts',
    setupFiles: ['test/support/each-file.ts'],
    // Tests that kill processes share CI's two cores with all others; a failed one is run once more, visibly.
    retry: process.env.CI ? 1 : 0,
    // Far above the time that a test takes alone: with others, on two cores, it may take many times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', new CiReporter()],
    // On CI's two cores: alone, a process of tests keeps about two thirds of a core busy, and waits for the rest.
    maxWorkers: 3,
    projects: [
      project('own process', { include: OWN_PROCESS }),
      // Each process runs some 180 files, whose modules stay in memory.
      project('shared process', {
        include: ALL,
        exclude: OWN_PROCESS,
        isolate: false,
        execArgv: ['--max-old-space-size=8192'],
      }),
    ],
  },
});

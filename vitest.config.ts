import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';
import { CiReporter } from './test/support/ci-reporter.ts';

export default defineConfig({
  resolve: {
    // Everything must see one copy of graphql: the CommonJS one that TypeGraphQL loads.
    alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', new CiReporter()],
    pool: 'forks',
    maxWorkers: 2,
    // Tests that kill processes share CI's two cores with all others; a failed one is run once more, visibly.
    retry: process.env.CI ? 1 : 0,
    // Far above what a test takes alone: beside others, on two cores, it may take many times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

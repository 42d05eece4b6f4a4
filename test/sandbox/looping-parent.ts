/** Runs an endless program in the sandbox, until a test kills this process. */
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { LIMITS, runBody } from './sandbox-fixture.ts';

const report = async () => {
  process.stdout.write('looping\n');
  return null;
};
await runBody(openSandbox(), 'await host.report(1); for (;;);', {
  host: { report },
  limits: { ...LIMITS, timeoutMs: 600_000 },
});

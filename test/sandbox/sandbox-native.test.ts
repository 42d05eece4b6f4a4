import { afterAll, expect, test, vi } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import type { SandboxTask } from '../../src/core/sandbox.ts';
import { LIMITS, runBody } from './sandbox-fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const handler: Partial<SandboxTask> = { purpose: 'handler', isHandler: true, limits: { ...LIMITS, timeoutMs: 20_000 } };

/** Runs a body with what handlers have. Returns its output. */
const outputOf = async (body: string): Promise<unknown> => (await runBody(sandbox, body, handler)).output;

test('a long text of blanks that is no Base64 is refused at once', async () => {
  const body = `const refused = (text) => { try { return atob(text) } catch (error) { return error.message } };
    return [refused(' '.repeat(2e6) + '*'), refused('='.repeat(2e6)), refused(' Y Q = = ')]`;
  const message = 'atob() takes a text in Base64';
  expect(await outputOf(body)).toEqual([message, message, 'a']);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../tools/engine.ts';
import { eventually } from '../operation/fixture.ts';
import { startShell } from '../support/pasted-shell.ts';
import { startProcess } from '../support/service-process.ts';
import { codeBelow, newCheckout } from './documented-code.ts';

const README = readFileSync('README.md', 'utf8');

describe('the requests of the README', { timeout: 600_000 }, () => {
  test('have its responses in the demo, in both APIs', async () => {
    const { path, remove } = newCheckout();
    const variables = { SEED_DEMO: 'true', PORT: String(await freePort()) };
    const service = await startProcess({ DATA_DIR: join(path, '.data'), ...variables });
    await eventually(async () => /The demo is ready|demo failed/.test(service.printed()));
    const shell = startShell(path, {});
    const [logIn, ...requests] = codeBelow(README, 'One request in each API');
    const responses = codeBelow(README, 'One request in each API', 'json').map((text) => JSON.parse(text));
    expect((await shell.paste(logIn!, true)).lines).toEqual([]);
    const printed: unknown[] = [];
    for (const request of requests) {
      const { lines } = await shell.paste(request.replace('http://127.0.0.1:4000', service.url), true);
      printed.push(JSON.parse(lines.join('\n')));
    }
    expect(printed).toEqual(responses);
    expect(printed).toHaveLength(2);
    await shell.close();
    expect(await service.end('SIGTERM')).toBe(0);
    remove();
  });
});

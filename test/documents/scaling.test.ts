import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startShell } from '../support/pasted-shell.ts';
import { newFolder } from '../support/service-process.ts';
import { codeBelow } from './documented-code.ts';

describe('the block for docker', () => {
  test('keeps the secrets of the first paste at the second', async () => {
    const { path, remove } = newFolder();
    mkdirSync(join(path, 'bin'));
    writeFileSync(join(path, 'bin/docker'), '#!/bin/sh\necho "docker $*"\ncat .env\n');
    chmodSync(join(path, 'bin/docker'), 0o755);
    const shell = startShell(path, { PATH: `${join(path, 'bin')}:${process.env.PATH}` });
    const [block] = codeBelow(readFileSync('docs/scaling.md', 'utf8'), 'Scaling out');
    const first = await shell.paste(block!, true);
    expect(first.lines).toEqual([
      'docker compose up --build --scale web=2 --scale worker=2',
      expect.stringMatching(/^APP_SECRET=[\da-f]{64}$/),
      expect.stringMatching(/^POSTGRES_PASSWORD=[\da-f]{32}$/),
    ]);
    expect((await shell.paste(block!, true)).lines).toEqual(first.lines);
    expect(statSync(join(path, '.env')).mode & 0o777).toBe(0o600);
    await shell.close();
    remove();
  });

  test('passes every variable of .env to the processes of compose.yaml, which set a few themselves', () => {
    const compose = readFileSync('compose.yaml', 'utf8');
    const service = compose.slice(compose.indexOf('x-service:'), compose.indexOf('services:'));
    expect(service).toContain('env_file: [{ path: .env, required: false }]');
    const set = [...service.matchAll(/^ {4}([A-Z_]+): /gm)].map(([, name]) => name);
    expect(set).toEqual(['DATABASE_URL', 'APP_SECRET', 'PUBLIC_URL', 'HOST', 'PORT', 'DATA_DIR']);
    expect(compose.match(/<<: \*service\n {4}environment: .*/g)).toEqual(
      ['web', 'worker'].map((role) => `<<: *service\n    environment: { <<: *environment, ROLE: ${role} }`),
    );
    // Ports without TLS are only for this machine.
    expect([...compose.matchAll(/ports: (.*)/g)].map(([, ports]) => ports)).toEqual([
      "['127.0.0.1:4000-4009:4000']",
      "['80:80', '443:443']",
    ]);
  });

  test('sets what compose.yaml requires, and nothing puts it into git or an image', () => {
    const required = [...readFileSync('compose.yaml', 'utf8').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!);
    expect(required.toSorted()).toEqual(['APP_SECRET', 'POSTGRES_PASSWORD']);
    for (const file of ['.gitignore', '.dockerignore'])
      expect(readFileSync(file, 'utf8').split('\n'), file).toContain('.env');
  });
});

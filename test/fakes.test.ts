import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startAiFake } from '../tools/ai-fake.ts';

const start = (...ports: string[]) => {
  const args = ['tools/fakes.ts', '--drive-port', ports[0]!, '--ai-port', ports[1]!];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
};

test('one command runs the fakes of the walk, and says where', async () => {
  const fakes = start('0', '0');
  try {
    const [line] = (await once(fakes.stdout, 'data')) as [Buffer];
    const [, drive, ai] = /^Google Drive at (http:\S+), AI provider at (http:\S+)\n/.exec(String(line))!;
    const [registration, provider] = await Promise.all(
      [`${drive}/_control/registration`, `${ai}/_control/provider`].map(async (url) => (await fetch(url)).json()),
    );
    expect(registration).toMatchObject({ result: { clientId: expect.any(String), apiUri: `${drive}/drive/v3` } });
    expect(provider).toMatchObject({ result: { name: 'Fake', baseUrl: `${ai}/v1` } });
  } finally {
    fakes.kill();
  }
});

test('a port in use is an error of one line', async () => {
  const other = await startAiFake();
  try {
    const fakes = start('0', new URL(other.provider.baseUrl).port);
    const [err, [code]] = await Promise.all([text(fakes.stderr), once(fakes, 'exit')]);
    expect([err, code]).toEqual([expect.stringMatching(/^listen EADDRINUSE: [^\n]+\n$/), 1]);
  } finally {
    await other.close();
  }
});

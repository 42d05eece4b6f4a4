import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { DevTools, type DevToolsEvent } from '../../src/adapters/browser/devtools.ts';

/** A client with a browser that the test plays. */
function connect() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const failures: Error[] = [];
  const devTools = new DevTools(input, output, (error) => {
    failures.push(error);
    devTools.fail(error);
  });
  const sent = () =>
    String(input.read() ?? '')
      .split('\0')
      .filter(Boolean)
      .map((text) => JSON.parse(text) as { id: number });
  return { input, output, devTools, failures, sent };
}
const message = (value: object) => `${JSON.stringify(value)}\0`;

describe('the client of the DevTools protocol', () => {
  test('matches responses with calls, in any order and any pieces', async () => {
    const { devTools, output, sent } = connect();
    const calls = [devTools.send('A'), devTools.send('B', { x: 1 }), devTools.send('C', {}, 'session')];
    expect(sent()).toEqual([
      { id: 1, method: 'A', params: {} },
      { id: 2, method: 'B', params: { x: 1 } },
      { id: 3, method: 'C', params: {}, sessionId: 'session' },
    ]);
    const bytes = Buffer.from(
      message({ id: 3, result: 'ü€' }) + message({ id: 1, result: 1 }) + message({ id: 2, result: null }),
    );
    for (const byte of bytes) output.write(Buffer.from([byte]));
    expect(await Promise.all(calls)).toEqual([1, null, 'ü€']);
  });

  test('rejects a call that the browser refuses, and ignores responses to no call', async () => {
    const { devTools, output, failures } = connect();
    const call = devTools.send('A');
    output.write(message({ id: 99, result: 1 }) + message({ id: 1, error: { message: 'no such method' } }));
    await expect(call).rejects.toThrow('no such method');
    output.write(message({ id: 1, result: 2 }));
    const next = devTools.send('B');
    output.write(message({ id: 2, result: 3 }));
    expect(await next).toBe(3);
    expect(failures).toEqual([]);
  });

  test('passes events on, and waits for one of a session', async () => {
    const { devTools, output } = connect();
    const events: DevToolsEvent[] = [];
    const stop = devTools.listen((event) => events.push(event));
    const waited = devTools.receive('Loaded', 's');
    output.write(
      message({ method: 'Loaded', sessionId: 'other' }) +
        message({ method: 'Begun', params: { a: 1 }, sessionId: 's' }),
    );
    output.write(message({ method: 'Loaded', sessionId: 's' }));
    await waited;
    stop();
    output.write(message({ method: 'Later' }) + message({ method: 'Loaded', sessionId: 's' }));
    expect(events).toEqual([
      { method: 'Loaded', params: {}, sessionId: 'other' },
      { method: 'Begun', params: { a: 1 }, sessionId: 's' },
      { method: 'Loaded', params: {}, sessionId: 's' },
    ]);
  });

  test('fails the calls of one session only', async () => {
    const { devTools, output } = connect();
    const [failed, waiting, other] = [
      devTools.send('A', {}, 's'),
      devTools.receive('Loaded', 's'),
      devTools.send('B', {}, 't'),
    ];
    const rejections = Promise.allSettled([failed, waiting]);
    devTools.failSession('s', new Error('crashed'));
    expect((await rejections).map((one) => (one as PromiseRejectedResult).reason.message)).toEqual([
      'crashed',
      'crashed',
    ]);
    output.write(message({ id: 3, result: 'fine' }));
    expect(await other).toBe('fine');
  });

  test.each<[string, (output: PassThrough, input: PassThrough) => void, RegExp]>([
    ['closes its pipe', (output) => output.end(), /has closed its pipe/],
    ['closes its pipe within a message', (output) => output.end('{"id":1'), /has closed its pipe/],
    ['sends what is not JSON', (output) => output.write('{"id":1\0'), /is not JSON/],
    [
      'sends a message without an end',
      (output) => output.write(Buffer.alloc(34 * 2 ** 20, 'x')),
      /has more than \d+ bytes/,
    ],
    ['breaks the pipe of calls', (_, input) => input.destroy(new Error('EPIPE')), /EPIPE/],
  ])('fails all calls, also later ones, when the browser %s', async (_, act, reason) => {
    const { devTools, output, input, failures } = connect();
    const calls = Promise.allSettled([devTools.send('A'), devTools.receive('Loaded', 's')]);
    act(output, input);
    for (const call of await calls) expect(String((call as PromiseRejectedResult).reason)).toMatch(reason);
    await expect(devTools.send('B')).rejects.toThrow(reason);
    expect(failures).toHaveLength(1);
  });
});

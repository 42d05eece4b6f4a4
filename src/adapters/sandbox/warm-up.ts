import { PREPARE } from './sandbox-message.ts';

/**
 * A script that runs a handler with the prelude. V8 runs it in a context of its own, and keeps the compiled code in the
 * snapshot.
 */
export const WARM_UP = `{
  const later = async () => 'J1';
  const bridge = {
    __proto__: null,
    log() {},
    exceed() {},
    call: { apply: later, applySyncPromise: () => 'J1' },
    native: () => null,
    sleep: { apply: later },
  };
  const limits = {
    calls: ['query', 'begin', 'commit', 'rollBack', 'fetch', 'emit', 'notify', 'email'],
    hostCalls: 1000,
    hostBytes: 1000000,
    logBytes: 10000,
    outputBytes: 1000000,
    callsAtOnce: 20,
    messageCharacters: 2000,
  };
  const input = {
    request: { method: 'get', path: '/', params: {}, query: {}, headers: {}, user: {}, roles: [] },
    body: new Uint8Array(),
    context: {},
    env: {},
  };
  const handler = async (app) => {
    app.log.info('text', {});
    const { body, rawBody } = app.request;
    const rows = await app.query('', []);
    await app.transaction(({ query }) => query(''));
    return app.respond(200, { body, rawBody, rows }, { name: 'value' });
  };
  const run = globalThis[${JSON.stringify(PREPARE)}](bridge, limits);
  run((given, host) => host.handle(handler, given), input);
  run(() => { throw new Error(''); }, null);
}`;

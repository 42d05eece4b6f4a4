import { hash } from 'node:crypto';
import type { InjectOptions } from 'fastify';
import { describe, expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { DocumentStore } from '../../src/server/graphql/document-store.ts';
import { DocumentThread } from '../../src/server/graphql/document-thread.ts';
import { SchemaResponses } from '../../src/server/graphql/schema-responses.ts';
import { test } from '../support/fixture.ts';

const parse = JSON.parse;
const MARK = 'x'.repeat(100_000);

/** Runs `work` and returns the turns of the event loop in which it called `note`. */
async function turnsOf(work: (note: () => void) => Promise<unknown>): Promise<number[]> {
  let turn = 0;
  let next = setImmediate(function count() {
    turn += 1;
    next = setImmediate(count);
  });
  const turns: number[] = [];
  try {
    await work(() => turns.push(turn));
  } finally {
    vi.restoreAllMocks();
    clearImmediate(next);
  }
  return turns;
}

test.for([
  ['/api/tags', { name: MARK }, 400],
  ['/graphql', { query: '{ me { id } }', variables: { unused: MARK } }, 200],
] as const)(
  'of large bodies of %s that arrive together, one is parsed in a turn of the event loop',
  async ([url, body, status], { service, ann }) => {
    await service.app.inject({ method: 'POST', url, headers: ann.headers, payload: body });
    const statuses: number[] = [];
    const turns = await turnsOf(async (note) => {
      vi.spyOn(JSON, 'parse').mockImplementation((text, ...rest) => {
        if (text.includes(MARK)) note();
        return parse(text, ...rest) as unknown;
      });
      const request = { method: 'POST', url, headers: ann.headers, payload: body } as const;
      const responses = await Promise.all(Array.from({ length: 8 }, () => service.app.inject(request)));
      statuses.push(...responses.map(({ statusCode }) => statusCode));
    });
    expect(statuses).toEqual(Array.from({ length: 8 }, () => status));
    expect(turns.length).toBe(8);
    expect(new Set(turns).size).toBe(8);
  },
);

const ITEMS = Array.from({ length: 20_000 }, (_, n) => ({ n }));

test.for([
  ['/api/tags', { name: ITEMS }, 400],
  ['/graphql', { query: '{ me { id } }', variables: { unused: ITEMS } }, 200],
] as const)('a large body of %s is parsed in many turns', async ([url, body, status], { service, ann }) => {
  const request = { method: 'POST', url, headers: ann.headers, payload: body } as const;
  await service.app.inject(request);
  const lengths: number[] = [];
  const turns = await turnsOf(async (note) => {
    vi.spyOn(JSON, 'parse').mockImplementation((text, ...rest) => {
      if (text.includes('{"n":')) {
        note();
        lengths.push(text.length);
      }
      return parse(text, ...rest) as unknown;
    });
    expect((await service.app.inject(request)).statusCode).toBe(status);
  });
  expect(Math.max(...lengths)).toBeLessThan(1 << 17);
  expect(new Set(turns).size).toBeGreaterThan(1);
});

describe('a large body has the response of a small one:', () => {
  const PAD = JSON.stringify(ITEMS);
  const END = ['not JSON', '"x": 1 "y"}'];

  test.for([
    ...[
      END,
      ['a text that cannot be stored', '"a": ["\\ud800", {"b\\u0000": 1}]}'],
      ['bytes that are not UTF-8', '"a": "\xff"}'],
      ['a prototype', '"a": {"__proto__": 1}}'],
      ['a deep list', `"a": ${'['.repeat(300)}${']'.repeat(300)}}`],
    ].map(([name, end]) => ['PUT', '/api/me', name!, `{"settings": {"pad": PAD, "quoted": 1, ${end}}`] as const),
    ...[
      END,
      ['a text that cannot be stored', '"x": "\\ud800"}'],
      ['a prototype', '"a": [{"\\u005f_proto__": 1}]}'],
      ['a prototype of a constructor', '"a": {"constructor": {"prototype": 1}}}'],
      ['a constructor', '"a": {"constructor": 1, "prototype": 2}}'],
      ['a deep list', `"x": ${'['.repeat(300)}${']'.repeat(300)}}`],
    ].map(
      ([name, end]) =>
        [
          'POST',
          '/graphql',
          name!,
          `{"query": "query ($x: JSON) { me { id } }", "variables": {"pad": PAD, "quoted": 1, ${end}}`,
        ] as const,
    ),
  ])('%s %s with %s', async ([method, url, , text], { service, ann }) => {
    const send = async (pad: string) => {
      const payload = Buffer.from(text.replace('PAD', pad), 'latin1');
      const headers = { ...ann.headers, 'content-type': 'application/json' };
      const { statusCode, body } = await service.app.inject({ method, url, headers, payload });
      const moved = (at: string) => String(Number(at) - pad.length + 2);
      return { statusCode, body: body.replaceAll(/(?<=position |column )\d+/g, moved) };
    };
    const small = await send('[]');
    expect(await send(PAD)).toEqual(small);
  });
});

/** Returns a long document that is new. */
const documentOf = (name: string) => `query ${name} { me { id } } # ${'long '.repeat(1000)}`;
const persisted = (query: string) => ({ persistedQuery: { version: 1, sha256Hash: hash('sha256', query) } });

test.for<[name: string, isPersisted: boolean, requestOf: (query: string) => InjectOptions]>([
  ['new long documents', false, (query) => ({ method: 'POST', payload: { query } })],
  ['new long documents in addresses', false, (query) => ({ method: 'GET', query: { query } })],
  ['long persisted queries', true, (query) => ({ method: 'POST', payload: { extensions: persisted(query) } })],
  [
    'long persisted queries without a text',
    true,
    (query) => ({ method: 'POST', payload: { query: null, extensions: persisted(query) } }),
  ],
  [
    'long persisted queries in addresses',
    true,
    (query) => ({ method: 'GET', query: { extensions: JSON.stringify(persisted(query)) } }),
  ],
])(
  'of %s that arrive together, one is parsed in a turn of the event loop, and runs in another',
  async ([name, isPersisted, requestOf], { service, ann }) => {
    const send = (options: InjectOptions) =>
      service.app.inject({
        url: '/graphql',
        headers: { 'apollo-require-preflight': 'yes', ...ann.headers },
        ...options,
      });
    const prefix = name.replaceAll(' ', '_');
    const queries = Array.from({ length: 8 }, (_, n) => documentOf(`${prefix}_${n}`));
    for (const query of isPersisted ? queries : [documentOf('Warm')])
      await send({ method: 'POST', payload: { query, extensions: persisted(query) } });

    const { get } = DocumentStore.prototype;
    const { run } = SchemaResponses.prototype;
    const statuses: number[] = [];
    const events: string[] = [];
    const turns = await turnsOf(async (note) => {
      // Apollo looks a document up in the turn in which it parses it.
      vi.spyOn(DocumentStore.prototype, 'get').mockImplementation(function (this: DocumentStore, key) {
        note();
        events.push('parse');
        return get.call(this, key);
      });
      vi.spyOn(SchemaResponses.prototype, 'run').mockImplementation(function (this: SchemaResponses, ...parameters) {
        note();
        events.push('run');
        return run.apply(this, parameters);
      });
      const responses = await Promise.all(queries.map((query) => send(requestOf(query))));
      statuses.push(...responses.map(({ statusCode }) => statusCode));
    });
    expect(statuses).toEqual(queries.map(() => 200));
    expect(events).toEqual(queries.flatMap(() => ['parse', 'run']));
    expect(new Set(turns).size).toBe(16);
  },
);

test('a long document of a socket is parsed in a turn of the event loop for it alone', async ({ ann }) => {
  const prepare = vi.spyOn(DocumentThread.prototype, 'prepare');
  const socket = new WebSocket(`${ann.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const next = () => new Promise<any>((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))));
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: ann.headers }));
  expect(await next()).toMatchObject({ type: 'connection_ack' });
  const query = documentOf('OfSocket');
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  expect(await next()).toMatchObject({ type: 'next', payload: { data: { me: { id: expect.any(String) } } } });
  socket.close();
  expect(prepare.mock.calls.map(([text]) => text)).toEqual([query]);
  vi.restoreAllMocks();
});

test('of new documents that read the SDL, the response of one is printed in a turn of the event loop', async ({
  ann,
}) => {
  const { print } = SchemaResponses.prototype;
  const sdls: string[] = [];
  const turns = await turnsOf(async (note) => {
    vi.spyOn(SchemaResponses.prototype, 'print').mockImplementation(function (this: SchemaResponses, result) {
      note();
      return print.call(this, result);
    });
    const names = Array.from({ length: 8 }, (_, n) => `sdl${n}`);
    const responses = await Promise.all(names.map((name) => ann.gql(`{ ${name}: _service { sdl } }`)));
    sdls.push(...responses.map(({ data }, n) => data[names[n]!].sdl));
  });
  expect(new Set(sdls).size).toBe(1);
  expect(sdls[0]).toContain('type Query');
  expect(turns).toHaveLength(8);
  expect(new Set(turns).size).toBe(8);
});

import { hash } from 'node:crypto';
import { createClient } from 'graphql-sse';
import { describe, expect } from 'vitest';
import { LAST_SETUP_MESSAGE, subscribeActively } from '../support/active-subscription.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { addFeedItem, createTeam, type FeedRecord } from '../support/team-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

const EVENTS = 'text/event-stream';
/** The types that urql accepts with each request. */
const ANY = 'application/graphql-response+json, application/graphql+json, application/json, text/event-stream';

const feedOf = (team: string) => `subscription { teamFeed(teamId: "${team}") { message } }`;

/** Opens a client of the protocol. */
function openStream(caller: Client) {
  const client = createClient({ url: `${caller.url}/graphql`, headers: caller.headers, retryAttempts: 0 });
  return {
    dispose: () => client.dispose(),
    iterate: <T>(query: string, variables: Record<string, unknown>) => client.iterate<T>({ query, variables }),
  };
}

const send = (client: Client, body: object, headers: Record<string, string> = {}) =>
  fetch(`${client.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: EVENTS, ...client.headers, ...headers },
    body: JSON.stringify(body),
  });

/** Comments keep the connection open. */
const withoutComments = (text: string) => text.replaceAll(/^:\n\n/gm, '');

/** Returns the type of a response and its errors, or its text. */
const outcomeOf = async (response: Response) => {
  const [type] = response.headers.get('content-type')!.split(';');
  if (type === EVENTS) return [response.status, type, withoutComments(await response.text())];
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  return [response.status, type, errors?.[0]!.extensions.code];
};

const complete = (result: object) => `event: next\ndata: ${JSON.stringify(result)}\n\nevent: complete\ndata:\n\n`;

describe('a subscription over server-sent events', () => {
  test('sends each result to a client of the protocol', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Streamed', ann);
    const add = (message: string) => addFeedItem(service, team, message);
    const stream = await subscribeActively<FeedRecord>(ann, 'teamFeed', feedOf(team), add, openStream(ann));
    for (const message of ['One', 'Two ✓\nlines']) await add(message);
    const received: string[] = [];
    while (received.length < 2) {
      const message = await stream.nextMessage();
      if (message !== LAST_SETUP_MESSAGE) received.push(message);
    }
    expect(received).toEqual(['One', 'Two ✓\nlines']);
    await stream.dispose();
  });

  test('runs for a client that also accepts JSON, by POST, and by GET with a preflight', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Accepted', ann);
    const query = feedOf(team);
    const address = `${ann.url}/graphql?query=${encodeURIComponent(query)}`;
    for (const open of [
      () => send(ann, { query }, { accept: ANY }),
      () => fetch(address, { headers: { ...ann.headers, accept: EVENTS, 'graphql-require-preflight': '1' } }),
    ]) {
      const response = await open();
      expect([response.status, response.headers.get('content-type')]).toEqual([200, `${EVENTS}; charset=utf-8`]);
      await response.body!.cancel();
    }
    const response = await fetch(address, { headers: { ...ann.headers, accept: EVENTS } });
    expect((await outcomeOf(response)).slice(0, 2)).toEqual([400, 'application/json']);
  });

  test('ends with its errors, as over a socket', async ({ ann }) => {
    const [status, type, text] = await outcomeOf(await send(ann, { query: feedOf(UNKNOWN_ID) }));
    expect([status, type]).toEqual([200, EVENTS]);
    const [, data] = /^event: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/.exec(text as string)!;
    expect(JSON.parse(data!)).toMatchObject({ errors: [{ path: ['teamFeed'], extensions: { code: 'NOT_FOUND' } }] });
  });

  test('ends when its credential ends, and frees its place when the client leaves', async ({ service, admin }) => {
    const leaver = await service.user('leaver');
    const team = await createTeam(admin, 'Left', leaver);
    const open = () => send(leaver, { query: feedOf(team) });
    const streams = await Promise.all(Array.from({ length: 200 }, open));
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    expect((await outcomeOf(await open()))[2]).toContain('"code":"RATE_LIMITED"');
    await Promise.all(streams.splice(1).map((stream) => stream.body!.cancel()));
    await expect
      .poll(async () => {
        const reader = (await open()).body!.pipeThrough(new TextDecoderStream()).getReader();
        let received = '';
        while (!received.includes('event: ')) {
          await addFeedItem(service, team, 'Is there a place?');
          received += (await reader.read()).value ?? '';
        }
        await reader.cancel();
        return received.includes('Is there a place?');
      })
      .toBe(true);
    await expectStatus(admin.put('/users/leaver', { locked: true }), 200);
    expect(withoutComments(await streams[0]!.text())).toMatch(/(?:^|\n\n)event: complete\ndata:\n\n$/);
  });
});

describe('a query or mutation of a client that accepts', () => {
  test('events alone is one result', async ({ ann }) => {
    expect(await outcomeOf(await send(ann, { query: '{ me { username } }' }))).toEqual([
      200,
      EVENTS,
      complete({ data: { me: { username: 'ann' } } }),
    ]);
    const query = 'mutation A($n: String!) { createTag(input: {name: $n}) { name } }';
    const named = { query, variables: { n: 'sse' }, operationName: 'A' };
    expect(await outcomeOf(await send(ann, named))).toEqual([
      200,
      EVENTS,
      complete({ data: { createTag: { name: 'sse' } } }),
    ]);
  });

  test('JSON too is JSON', async ({ ann }) => {
    const response = await send(ann, { query: '{ me { username } }' }, { accept: ANY });
    expect([response.headers.get('content-type'), await response.json()]).toEqual([
      'application/graphql-response+json; charset=utf-8',
      { data: { me: { username: 'ann' } }, extensions: { cost: 1 } },
    ]);
  });
});

test('a persisted query runs by its hash, and not with another one', async ({ admin, ann }) => {
  const team = await createTeam(admin, 'Persisted', ann);
  const query = feedOf(team);
  const named = (sha256Hash: string, text?: string) => ({
    ...(text && { query: text }),
    extensions: { persistedQuery: { version: 1, sha256Hash } },
  });
  const sha256 = hash('sha256', query);
  const open = async (body: object) => {
    const response = await send(ann, body);
    await response.body!.cancel();
    return response.status;
  };
  expect([await open(named(sha256, query)), await open(named(hash('sha256', 'x'), query))]).toEqual([200, 400]);
  // An unknown hash is 200, as Apollo has it.
  expect((await outcomeOf(await send(ann, named(sha256))))[2]).toBe('PERSISTED_QUERY_NOT_FOUND');
  const registered = '{ me { username } }';
  await ann.request('POST', '/graphql', named(hash('sha256', registered), registered));
  expect(await outcomeOf(await send(ann, named(hash('sha256', registered))))).toEqual([
    200,
    EVENTS,
    complete({ data: { me: { username: 'ann' } } }),
  ]);
});

test('what is refused before it runs is JSON with its status', async ({ service, admin, ann, anonymous }) => {
  const team = await createTeam(admin, 'Refused', ann);
  const query = feedOf(team);
  const session = await service.login('ann');
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const refused: [string, Promise<Response>, number, string][] = [
    ['no credentials', send(anonymous, { query }), 401, 'UNAUTHENTICATED'],
    [
      'wrong credentials',
      send(anonymous, { query }, { authorization: `Bearer dws_${'x'.repeat(43)}` }),
      401,
      'UNAUTHENTICATED',
    ],
    ['no syntax', send(ann, { query: 'subscription {' }), 400, 'BAD_USER_INPUT'],
    ['no such field', send(ann, { query: 'subscription { nope }' }), 400, 'BAD_USER_INPUT'],
    ['no query', send(ann, { query: 1 }), 400, 'BAD_USER_INPUT'],
    ['wrong variables', send(ann, { query, variables: [] }), 400, 'BAD_USER_INPUT'],
    [
      'variables that are no JSON',
      fetch(`${ann.url}/graphql?query=${encodeURIComponent(query)}&variables={`, {
        headers: { ...ann.headers, accept: EVENTS, 'graphql-require-preflight': '1' },
      }),
      400,
      'BAD_USER_INPUT',
    ],
    ['another form', send(session, { query }, { 'content-type': 'text/plain' }), 400, 'BAD_USER_INPUT'],
    [
      'a mutation of another site',
      send(session, { query: 'mutation { createTag(input: {name: "evil"}) { id } }' }, foreign),
      403,
      'FORBIDDEN',
    ],
  ];
  for (const [what, response, status, code] of refused)
    expect([what, ...(await outcomeOf(await response))]).toEqual([what, status, expect.stringContaining('json'), code]);
  expect((await ann.get('/tags?q=evil')).body.total).toBe(0);
});

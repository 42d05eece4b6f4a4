import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { sweepKeys } from '../../src/operations/janitor.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createForm, DATASETS, DATASOURCES, ORDERS } from '../support/upload-form.ts';

const keyed = (key: string = newId()) => ({ 'idempotency-key': key });
const KEY_RUNS = 'A call with the same idempotency key is running';

const countTags = async (service: Service, name: string): Promise<number> =>
  (await systemQuery(service, 'select from dws.tag where name = $1', name)).length;
const countKeys = async (service: Service): Promise<number> =>
  (await systemQuery(service, 'select from dws.idempotency_key')).length;
const age = (service: Service, interval: string) =>
  systemQuery(service, `update dws.idempotency_key set created_at = created_at - $1::interval`, interval);

describe('a POST with a key', () => {
  test('runs once, and its repetition gets the response of the first call', async ({ service, ann }) => {
    const first = await ann.post('/tags', { name: 'once', color: '#ff0000' }, keyed('once'));
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const second = await ann.post('/tags', { color: '#ff0000', name: 'once' }, keyed('"once"'));
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await countTags(service, 'once')).toBe(1);
    const events = await systemQuery(service, `select from dws.audit_event where resource_id = $1`, first.body.id);
    expect(events).toHaveLength(1);
  });

  test('is 422 for another path, query or body, and free for other callers', async ({ service, ann, bob }) => {
    await expectStatus(ann.post('/tags', { name: 'reused' }, keyed('reused')), 201);
    for (const response of [
      ann.post('/tags', { name: 'reused 2' }, keyed('reused')),
      ann.post('/folders', { name: 'reused' }, keyed('reused')),
    ]) {
      await expectError(response, 422, 'The idempotency key was used for another request');
      expect((await response).body.code).toBe('IDEMPOTENCY_KEY_REUSED');
    }
    const other = await bob.post('/tags', { name: 'reused by bob' }, keyed('reused'));
    expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const session = await service.login(ann.username);
    const again = await session.post('/tags', { name: 'reused' }, keyed('reused'));
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  });

  test('is 400 unless the key is a quoted string or printable text of 1 to 255 characters', async ({ ann }) => {
    for (const key of ['', '""', '"open', '"a"b"', 'x'.repeat(256), 'caf\u00e9', '"a";p=1'])
      await expectError(ann.post('/tags', { name: 'malformed' }, keyed(key)), 400, /^An idempotency key is/);
    for (const key of ['x'.repeat(255), `"${'y'.repeat(255)}"`, '"say \\"hi\\""', 'a, b; c'])
      await expectStatus(ann.post('/tags', { name: `key ${key.slice(0, 9)}` }, keyed(key)), 201);
  });

  test('leaves no key when it is refused or fails', async ({ service, ann }) => {
    const before = await countKeys(service);
    await expectStatus(ann.post('/tags', { name: '' }, keyed('refused')), 400);
    await expectStatus(ann.post('/tags', { name: 'taken' }), 201);
    await expectStatus(ann.post('/tags', { name: 'taken' }, keyed('refused')), 409);
    await expectStatus(ann.post('/identity-providers', {}, keyed('refused')), 400);
    await runSql(
      service.databaseUrl,
      `alter table dws.audit_event add constraint no_tags check (action <> 'createTag') not valid`,
    );
    await expectStatus(ann.post('/tags', { name: 'rolled back' }, keyed('refused')), 500);
    await runSql(service.databaseUrl, 'alter table dws.audit_event drop constraint no_tags');
    expect([await countKeys(service), await countTags(service, 'rolled back')]).toEqual([before, 0]);
    await expectStatus(ann.post('/tags', { name: 'rolled back' }, keyed('refused')), 201);
  });

  test('runs again after 24 hours, and a worker deletes its key', async ({ service, ann }) => {
    const key = keyed();
    const { body } = await ann.post('/tags', { name: 'old' }, key);
    await ann.delete(`/tags/${body.id}`);
    await age(service, '24 hours');
    const again = await ann.post('/tags', { name: 'old' }, key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect(again.body.id).not.toBe(body.id);
    await age(service, '24 hours');
    await sweepKeys((statement) => service.platform.system.query(statement));
    expect(await countKeys(service)).toBe(0);
  });

  test('costs nothing without a key: no statement and no row', async ({ service, ann }) => {
    const before = await countKeys(service);
    const { database } = service.platform;
    const texts: string[] = [];
    const original = database.query;
    database.query = (tenantId, statement) => {
      texts.push(statement.text);
      return original.call(database, tenantId, statement) as never;
    };
    await ann.post('/tags', { name: 'plain' });
    database.query = original;
    expect(texts.filter((text) => text.includes('idempotency_key'))).toEqual([]);
    expect(await countKeys(service)).toBe(before);
  });
});

describe('a repetition', () => {
  test('requires the rights of a new call', async ({ service, ann }) => {
    const key = keyed();
    await expectStatus(ann.post('/tags', { name: 'rights' }, key), 201);
    const created = await (await service.login(ann.username)).post('/tokens', { name: 'reader', scopes: ['read'] });
    const reader = ann.with({ authorization: `Bearer ${created.body.token}` });
    await expectError(reader.post('/tags', { name: 'rights' }, key), 403, 'This token lacks the scope write');
    await expectStatus(ann.with({ authorization: 'Bearer dws_x' }).post('/tags', { name: 'rights' }, key), 401);
    const session = await service.login(ann.username);
    const foreign = session.with({ 'sec-fetch-site': 'cross-site' });
    await expectStatus(foreign.post('/tags', { name: 'rights' }, key), 403);
  });

  test('is 404 for a caller who may no longer read the result', async ({ ann, bob }) => {
    const { body: dataset } = await ann.post(DATASETS, createForm(ORDERS, 'shared.csv'));
    await ann.put(`/datasets/${dataset.id}/shares/${bob.username}`, { accessLevel: 3 });
    const key = keyed();
    const copied = await bob.post(`/datasets/${dataset.id}/_edit`, {}, key);
    expect(copied.status).toBe(200);
    expect((await bob.post(`/datasets/${dataset.id}/_edit`, {}, key)).body).toEqual(copied.body);
    await ann.delete(`/datasets/${dataset.id}/shares/${bob.username}`);
    await expectStatus(bob.post(`/datasets/${dataset.id}/_edit`, {}, key), 404);
    const tagKey = keyed();
    const tag = await ann.post('/tags', { name: 'deleted' }, tagKey);
    await ann.delete(`/tags/${tag.body.id}`);
    await expectStatus(ann.post('/tags', { name: 'deleted' }, tagKey), 404);
  });

  test('repeats a secret that is shown once, which is stored encrypted', async ({ service, ann }) => {
    const key = keyed();
    const session = await service.login(ann.username);
    const { body } = await session.post('/tokens', { name: 'secret' }, key);
    expect(body.token).toMatch(/^dws_/);
    expect((await session.post('/tokens', { name: 'secret' }, key)).body).toEqual(body);
    const rows = await systemQuery(
      service,
      `select from dws.idempotency_key k where position(convert_to($1, 'UTF8') in sealed) > 0 or k::text like '%' || $1 || '%'`,
      body.token,
    );
    expect(rows).toEqual([]);
  });

  test('reads a response of more than 64 kB anew', async ({ service, admin }) => {
    const key = keyed();
    const { body: source } = await admin.post(DATASOURCES, createForm(ORDERS, 'long.csv'));
    const settings = { text: 'x'.repeat(70_000) };
    const input = { name: 'Long', datasourceId: source.id, query: 'select * from "long"', settings };
    const first = await admin.post('/datasets', input, key);
    expect(first.status).toBe(201);
    const again = await admin.post('/datasets', input, key);
    expect([again.status, again.headers.get('location'), again.headers.get('idempotency-replayed')]).toEqual([
      201,
      `/api/datasets/${first.body.id}`,
      'true',
    ]);
    expect(again.body).toEqual(first.body);
    const sizes = await systemQuery(service, 'select from dws.idempotency_key where octet_length(sealed) > 65000');
    expect(sizes).toEqual([]);
  });

  test('reads a response anew that was lost with its process, and is 409 until then', async ({ service, ann }) => {
    const { database } = service.platform;
    const original = database.query;
    database.query = ((tenantId, statement) =>
      statement.text.includes('update dws.idempotency_key')
        ? Promise.reject(new Error('killed'))
        : original.call(database, tenantId, statement)) as typeof original;
    const key = keyed();
    const first = await ann.post('/tags', { name: 'lost' }, key);
    database.query = original;
    expect(first.status).toBe(201);
    const running = await ann.post('/tags', { name: 'lost' }, key);
    expect([running.status, running.body.message, running.headers.get('retry-after')]).toEqual([409, KEY_RUNS, '1']);
    await age(service, '2 minutes');
    const again = await ann.post('/tags', { name: 'lost' }, key);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    expect(await countTags(service, 'lost')).toBe(1);
  });

  test('counts for the rate limit', async () => {
    const service = await startService({ RATE_LIMIT_API: '3' });
    try {
      const user = await service.user('limited');
      const key = keyed();
      for (const status of [201, 201, 201, 429])
        await expectStatus(user.post('/tags', { name: 'limited' }, key), status);
    } finally {
      await service.close();
    }
  });
});

describe('a form with a key', () => {
  test('is compared by names, values, file name and digest of the file', async ({ service, admin }) => {
    const key = keyed();
    const send = (content: string, filename: string, fields: Record<string, string>) =>
      admin.post(DATASOURCES, createForm(content, filename, { after: fields }), key);
    const first = await send(ORDERS, 'orders.csv', { name: 'Orders' });
    expect(first.status).toBe(201);
    const again = await send(ORDERS, 'orders.csv', { name: 'Orders' });
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    await expectStatus(send(`${ORDERS}4,EU,1\n`, 'orders.csv', { name: 'Orders' }), 422);
    await expectStatus(send(ORDERS, 'others.csv', { name: 'Orders' }), 422);
    await expectStatus(send(ORDERS, 'orders.csv', { name: 'Others' }), 422);
    expect(await systemQuery(service, `select from dws.datasource where name like 'O%ers'`)).toHaveLength(1);
  });

  test('of a long operation names the operation', async ({ service, ann }) => {
    const key = keyed();
    const send = (headers: Record<string, string> = {}) =>
      ann.post(DATASETS, createForm(ORDERS, 'lines.csv'), { ...key, ...headers });
    const first = await send({ prefer: 'respond-async' });
    expect(first.status).toBe(202);
    const joined = await send();
    expect([joined.status, joined.body.records]).toEqual([201, 3]);
    const again = await send({ prefer: 'respond-async' });
    expect([again.status, again.body.id]).toEqual([202, first.body.id]);
    expect(await systemQuery(service, `select from dws.dataset where name = 'lines'`)).toHaveLength(1);
  });
});

describe('a long operation with a key', () => {
  test('is joined by a repetition, and runs again after it has failed', async ({ service, ann }) => {
    const { body: dataset } = await ann.post(DATASETS, createForm(ORDERS));
    const key = keyed();
    const path = `/datasets/${dataset.id}/_refresh`;
    const first = await ann.post(path, {}, { ...key, prefer: 'respond-async' });
    const [second, third] = await Promise.all([ann.post(path, {}, key), ann.post(path, {}, key)]);
    expect([second.status, third.status]).toEqual([200, 200]);
    expect(third.body).toEqual(second.body);
    const last = keyed();
    const deferred = () => ann.post(path, {}, { ...last, prefer: 'respond-async' });
    const started = await deferred();
    await expect.poll(async () => (await deferred()).body.status).toBe('succeeded');
    expect((await deferred()).body.id).toBe(started.body.id);
    const operations = () =>
      systemQuery<{ id: string }>(
        service,
        `select id from dws.operation where operation = 'dataset.refresh' and resource_id = $1 order by id`,
        dataset.id,
      );
    const before = await operations();
    expect(before.map(({ id }) => id)).toContain(first.body.id);
    const failing = keyed();
    const [{ query }] = (await systemQuery(service, `select query from dws.dataset where id = $1`, dataset.id)) as [
      { query: string },
    ];
    await systemQuery(service, `update dws.dataset set query = 'select nothing' where id = $1`, dataset.id);
    const failed = await ann.post(path, {}, failing);
    expect(failed.status).toBeGreaterThanOrEqual(400);
    await systemQuery(service, `update dws.dataset set query = $2 where id = $1`, dataset.id, query);
    await expectStatus(ann.post(path, {}, failing), 200);
    expect(await operations()).toHaveLength(before.length + 2);
  });
});

describe('calls that ignore the key', () => {
  test('are logins and calls that only read, whatever the key is', async ({ service, ann }) => {
    const login = { username: ann.username, password: PASSWORD, tenant: 'default' };
    const [one, other] = [await ann.post('/login', login, keyed('""')), await ann.post('/login', login, keyed('""'))];
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(one.headers.getSetCookie()).not.toEqual(other.headers.getSetCookie());
    const { body: dataset } = await ann.post(DATASETS, createForm(ORDERS, 'read.csv'));
    const before = await countKeys(service);
    for (const filter of [{ region: 'EU' }, { region: 'US' }])
      await expectStatus(ann.post(`/datasets/${dataset.id}/_search`, { filter }, keyed('search')), 200);
    await expectStatus(ann.put('/me', { displayName: 'Ann' }, keyed('put')), 200);
    expect(await countKeys(service)).toBe(before);
  });
});

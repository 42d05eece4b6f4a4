import { describe, expect, test } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import { Client } from '../support/client.ts';
import { dws } from '../support/command.ts';
import { findUnregistered } from '../support/sealed-values.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { countKeys, NEW, NEW_KEY, OLD, OLD_KEY, openAll, PLACES, storeSealedContent } from './sealed-content.ts';

/** Starts another process of a service with another key ring. */
const startAgain = (first: Service, APP_SECRET: string, more: Record<string, string> = {}): Promise<Service> =>
  startService({ APP_SECRET, ...more }, { databaseUrl: first.databaseUrl });

/** Waits until nothing is sealed under the old key. */
const untilResealed = (service: Service) => eventually(async () => !((await countKeys(service))[OLD_KEY]! > 0));

/** Returns the values that callers read of sealed columns. */
async function readByApi({ url }: Service, { headers, id, username }: Client): Promise<unknown> {
  const caller = new Client(url, headers, { id, username });
  const [images, audit, outbox] = await Promise.all(
    ['/images', '/ai/audit', '/outbox'].map((path) => caller.get(path)),
  );
  const data = await caller.data('{ images { items { prompt } } aiCalls { items { prompt } } }');
  return [images!.body.items, audit!.body.items, outbox!.body.items, data].map((part) => JSON.stringify(part));
}

describe('a rotation of APP_SECRET', () => {
  test('keeps every stored value: old, then new and old until nothing is left, then new', async () => {
    const first = await startService({ APP_SECRET: OLD });
    const admin = await first.user('admin', { superuser: true });
    await storeSealedContent(first, admin);
    const before = await openAll(first);
    expect(Object.keys(before).toSorted()).toEqual([...PLACES].toSorted());
    for (const [place, values] of Object.entries(before)) expect(values.length, place).toBeGreaterThan(0);
    expect(await findUnregistered(first.databaseUrl)).toEqual([]);
    const read = await readByApi(first, admin);
    expect(JSON.stringify(read)).toContain('A twin');
    const total = (await countKeys(first))[OLD_KEY]!;
    expect(await countKeys(first)).toEqual({ [OLD_KEY]: total });

    const both = await startAgain(first, `${NEW},${OLD}`);
    await untilResealed(both);
    expect(await countKeys(both)).toEqual({ [NEW_KEY]: total });
    await both.close();

    const last = await startAgain(first, NEW);
    expect(await openAll(last)).toEqual(before);
    expect(await readByApi(last, admin)).toEqual(read);
    await last.close();
    await first.close();
  });

  test('does not change versions and times of resources, and the values stay in the same rows', async () => {
    const first = await startService({ APP_SECRET: OLD, ROLE: 'web' });
    await storeSealedContent(first, await first.user('admin', { superuser: true }));
    const stateOf = async () => {
      const states = [];
      for (const table of ['datasource', 'integration', 'toolkit', 'connection', 'app', 'job_action', 'ai_provider'])
        states.push(await systemQuery(first, `select id, version, updated_at from dws.${table} order by id`));
      return states;
    };
    const before = await stateOf();
    const both = await startAgain(first, `${NEW},${OLD}`);
    await untilResealed(both);
    expect(await stateOf()).toEqual(before);
    await both.close();
    await first.close();
  });
});

describe('a start', () => {
  test('without a key that stored values need is refused with the counts; the key gets it going', async () => {
    const first = await startService({ APP_SECRET: OLD, ROLE: 'web' });
    await storeSealedContent(first, await first.user('admin', { superuser: true }));
    const refusal = new RegExp(
      `^APP_SECRET does not contain every key that encrypts stored values. Missing: ${OLD_KEY} ` +
        String.raw`\(ai_call 1, ai_provider 1, app 1, app_hook_token 1, connection 2, ` +
        String.raw`credit_reservation 1, datasource 1, idempotency_key 1, identity_provider 1, image 1, integration 1, ` +
        String.raw`job_action 1, mail 2, oauth_registration 1, oauth_state 1, operation 1, setting 1, ` +
        String.raw`toolkit 1, webhook_call 1, webhook_reply 1\). Add the former key after the new one`,
    );
    await expect(startAgain(first, NEW)).rejects.toThrow(refusal);
    // A start with both keys does not hide that values of the old one are left.
    const both = await startAgain(first, `${NEW},${OLD}`, { ROLE: 'web' });
    await both.close();
    await expect(startAgain(first, NEW)).rejects.toThrow(refusal);
    await first.close();
  });

  test('counts a database that was used before keys were recorded', async () => {
    const first = await startService({ APP_SECRET: OLD, ROLE: 'web' });
    await storeSealedContent(first, await first.user('admin', { superuser: true }));
    await systemQuery(first, `delete from dws.setting where name like 'key:%'`);
    await systemQuery(first, `update dws.setting set value = $1 where name = 'key'`, NEW_KEY);
    await expect(startAgain(first, NEW)).rejects.toThrow(`Missing: ${OLD_KEY} (ai_call 1`);
    await first.close();
  });

  test('without a key under which nothing is stored passes', async () => {
    const first = await startService({ APP_SECRET: OLD });
    const next = await startAgain(first, NEW);
    expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
    await next.close();
    await first.close();
  });

  test('passes once the operator says that the key is lost, and lost values are sentences', async () => {
    const first = await startService({ APP_SECRET: OLD, ROLE: 'web' });
    const admin = await first.user('admin', { superuser: true });
    const content = await storeSealedContent(first, admin);
    const variables = { DATABASE_URL: first.databaseUrl, DATA_DIR: first.platform.config.DATA_DIR, APP_SECRET: NEW };
    expect((await dws(variables, 'secrets', 'forget', NEW_KEY)).code).toBe(1);
    const { out, code } = await dws(variables, 'secrets', 'forget', OLD_KEY);
    expect({ out: out.join('\n'), code }).toEqual({
      out: expect.stringContaining(`Unreadable until it is back: ${OLD_KEY} (ai_call 1, `),
      code: 0,
    });
    const last = await startAgain(first, NEW);
    const caller = new Client(last.url, admin.headers, admin);
    const lost = (what: string) =>
      `Cannot decrypt ${what}: the key is no longer in APP_SECRET. Ask the operator of the service to add it again`;
    const answer = await caller.post(`/datasources/${content.datasource}/_test`, {});
    expect(answer.body).toMatchObject({ ok: false, message: lost('the secrets of datasource "Shop"') });
    const image = await caller.gql(`{ image(id: "${content.image}") { prompt } }`);
    expect(image.errors[0]).toMatchObject({
      message: lost(`the prompt of image ${content.image}`),
      extensions: { code: 'CONFLICT' },
    });
    expect((await caller.get(`/images/${content.image}`)).body).toMatchObject({
      code: 'CONFLICT',
      message: lost(`the prompt of image ${content.image}`),
    });
    expect((await caller.put(`/apps/${content.app}`, { env: { TOKEN: 'x' } })).body.message).toBe(
      lost('the environment of app "Orders"'),
    );
    expect(
      (await caller.put(`/toolkits/${content.toolkit}`, { config: { url: 'https://example.com/mcp' } })).body,
    ).toEqual(expect.objectContaining({ code: 'CONFLICT', message: lost('the secrets of toolkit "Tools"') }));
    // New secrets replace what is lost.
    expect((await caller.put(`/apps/${content.app}`, { env: null })).status).toBe(200);
    expect((await caller.put(`/apps/${content.app}`, { env: { TOKEN: 'x' } })).status).toBe(200);
    const again = await caller.put(`/datasources/${content.datasource}`, { secrets: { password: 'again' } });
    expect(again.status).toBe(200);
    await last.close();
    // The key is back.
    const both = await startAgain(first, `${NEW},${OLD}`);
    await untilResealed(both);
    expect((await openAll(both))['datasource.secrets']).toEqual(['{"password":"again"}']);
    await both.close();
    await (await startAgain(first, NEW)).close();
    await first.close();
  });
});

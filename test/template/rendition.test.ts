import { describe, expect } from 'vitest';
import { reconcile } from '../../src/operations/reconciler.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createRenderable, render, test } from './render-fixture.ts';

const FILES = { files: { 'hello.njk': 'Hello {{ user.username }}' } };

/** Renders a template. Returns the path of the rendition. */
async function renditionOf(caller: Client, path: string, body: object = {}): Promise<string> {
  const { status, headers, text } = await render(caller, path, body);
  expect(status, text).toBe(200);
  return headers.get('location')!.slice('/api'.length);
}

describe('a rendition', () => {
  test('is listed and sent to the user who rendered it, and unknown to others', async ({ ann, bob, admin }) => {
    const { path, id } = await createRenderable(ann, FILES, { handler: 'text' });
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 3 }), 200);
    const first = await renditionOf(ann, path);
    const second = await renditionOf(ann, path, { filename: 'Größe' });
    const { body } = await ann.get(`${path}/renditions`);
    expect(body._embedded['svc:rendition'].map(({ filename }: { filename: string }) => filename)).toEqual([
      'Größe.txt',
      expect.stringMatching(/^report.*\.txt$/),
    ]);
    await expectBody(ann.get(second), 200, { templateId: id, filename: 'Größe.txt', size: 9 });
    for (const other of [bob, admin]) {
      expect((await other.get(`${path}/renditions`)).body.total).toBe(0);
      await expectError(other.get(first), 404);
      await expectError(other.get(`${first}/contents`), 404);
      const QUERY = `query ($id: ID!) { node(id: $id) { id } }`;
      expect((await other.gql(QUERY, { id: first.split('/').at(-1) })).data.node).toBeNull();
    }
    const NODE = `query ($id: ID!, $node: ID!) {
      template(id: $id) { renditions { filename text contentsUrl } rendition(renditionId: $node) { text } }
      node(id: $node) { ... on Rendition { filename template { id } } }
    }`;
    const data = await ann.data(NODE, { id, node: second.split('/').at(-1) });
    expect(data.node).toEqual({ filename: 'Größe.txt', template: { id } });
    expect(data.template.rendition).toEqual({ text: 'Hello ann' });
    expect(data.template.renditions).toHaveLength(2);
    const other = await createRenderable(ann, FILES);
    await expectError(ann.get(`${other.path}/renditions/${first.split('/').at(-1)}`), 404);
  });

  test('has contents that are harmless and can be revalidated', async ({ ann }) => {
    const { path } = await createRenderable(ann, { files: { 'x.njk': '<script>alert(1)</script>' } });
    const contents = `${await renditionOf(ann, path)}/contents`;
    const { status, headers, body } = await ann.get(contents);
    expect({ status, body }).toEqual({ status: 200, body: '<script>alert(1)</script>' });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; filename="report.*\.html"$/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/; sandbox$/),
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      'cache-control': 'private, no-cache',
    });
    await expectStatus(ann.get(contents, { 'if-none-match': headers.get('etag')! }), 304);
    const head = await ann.request('HEAD', `/api${contents}`);
    expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
  });
});

describe('the janitor', () => {
  test('deletes expired renditions with their bytes', async ({ ann, service }) => {
    const { path } = await createRenderable(ann, FILES);
    const rendition = await renditionOf(ann, path);
    const kept = await renditionOf(ann, path);
    const id = rendition.split('/').at(-1)!;
    const [row] = await systemQuery<{ fileId: string }>(
      service,
      `update dws.rendition set expires_at = now() - interval '1 s' where id = '${id}' returning file_id as "fileId"`,
    );
    // Hidden immediately, before the janitor runs.
    await expectError(ann.get(rendition), 404);
    await expectError(ann.get(`${rendition}/contents`), 404);
    await expect
      .poll(async () => {
        await sweep(service);
        return (await service.platform.files.list()).map((file) => file.id);
      })
      .not.toContain(row!.fileId);
    expect(await systemQuery(service, `select from dws.rendition where id = '${id}'`)).toEqual([]);
    expect(await systemQuery(service, `select from dws.stored_file where id = '${row!.fileId}'`)).toEqual([]);
    await expectStatus(ann.get(`${kept}/contents`), 200);
  });

  test('deletes the oldest renditions of a user beyond 200 when another one is rendered', async ({ bob, service }) => {
    const { path, id } = await createRenderable(bob, FILES);
    const first = await renditionOf(bob, path);
    await systemQuery(
      service,
      `with files as (
        insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
        select gen_random_uuid(), tenant_id, 'x', 'text/plain', 1, '' from dws.rendition, generate_series(1, 199)
        where template_id = '${id}' returning id, tenant_id
      )
      insert into dws.rendition (id, tenant_id, template_id, user_id, handler, filename, content_type, size, expires_at, file_id)
      select gen_random_uuid(), tenant_id, '${id}', '${bob.id}', 'html', 'x', 'text/html', 1, now() + interval '1 h', id
      from files`,
    );
    expect((await bob.get(`${path}/renditions?limit=1`)).body.total).toBe(200);
    await expectStatus(bob.get(first), 200);
    const last = await renditionOf(bob, path);
    expect((await bob.get(`${path}/renditions?limit=1`)).body.total).toBe(200);
    await expectError(bob.get(first), 404);
    await expectStatus(bob.get(last), 200);
  });
});

/** Runs a pass of the reconciler without minimum ages. */
const sweep = ({ platform }: Service): Promise<void> =>
  reconcile(
    platform,
    {},
    {
      interval: 0,
      heartbeatTimeout: 60_000,
      retention: 60_000,
      replacedAge: 60_000,
      orphanAge: 60_000,
      fileAge: 0,
      sweepTimeout: 15_000,
    },
  );

test('a document beyond the quota of the tenant is 413, and leaves nothing', async () => {
  const service = await startService({ TENANT_QUOTA_BYTES: '2000' });
  try {
    const user = await service.user('uma');
    const { path } = await createRenderable(user, {
      files: { 'x.njk': '{% for i in range(0, 1000) %}abc{% endfor %}' },
    });
    const { status, error } = await render(user, path);
    expect({ status, code: error?.code }).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    expect((await user.get(`${path}/renditions`)).body.total).toBe(0);
    expect(await service.platform.files.list()).toHaveLength(1);
  } finally {
    await service.close();
  }
});

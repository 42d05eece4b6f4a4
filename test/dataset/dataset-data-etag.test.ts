import { expect, vi } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { test as base } from '../support/shop-fixture.ts';
import { createOrders, recordsOf } from './dataset-fixture.ts';

/* Conditional requests for rows (docs/contract/apis.md#conditional-requests). */

interface Tagged {
  dataset: string;
  filter: string;
  /** Sends `If-None-Match`. Returns status, tag and body. */
  read(reader: Client, tag?: string, query?: string): Promise<{ status: number; tag: string; body: any }>;
}

const test = base.extend<{ tagged: Tagged }>({
  tagged: async ({ ann, bob, source }, use) => {
    const { id } = await createOrders(ann, source, { refresh: true, fieldSecurityEnabled: true });
    const filter = await ann.creates(`/datasets/${id}/filters`, { name: 'EU', criteria: { region: 'EU' } });
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 1, datasetFilterId: filter.id });
    await use({
      dataset: `/datasets/${id}`,
      filter: filter.id,
      async read(reader, tag, query = '') {
        const response = await reader.get(`/datasets/${id}/data${query}`, tag ? { 'if-none-match': tag } : {});
        const { status, headers, body } = response;
        expect(headers.get('cache-control')).toBe('private, no-cache');
        return { status, tag: headers.get('etag')!, body };
      },
    });
  },
});

test('rows that the client has are 304, without a query of the index', async ({ service, ann, tagged: { read } }) => {
  const first = await read(ann);
  expect(first).toMatchObject({ status: 200, tag: expect.stringMatching(/^W\/"[\w-]{22}"$/), body: { total: 20 } });
  const search = vi.spyOn(service.platform.index, 'search');
  try {
    expect(await read(ann, first.tag)).toEqual({ status: 304, tag: first.tag, body: '' });
    expect(await read(ann, `"other", ${first.tag}`)).toMatchObject({ status: 304 });
    expect(search).not.toHaveBeenCalled();
    expect(await read(ann, 'W/"other"')).toMatchObject({ status: 200, tag: first.tag, body: { total: 20 } });
    expect(search).toHaveBeenCalled();
  } finally {
    search.mockRestore();
  }
});

test('another question has another tag', async ({ ann, tagged: { read, filter } }) => {
  const queries = [
    '',
    '?limit=3',
    '?limit=3&start=3',
    '?sort=-id',
    '?fields=id',
    '?fields=id,region',
    '?q=zoe',
    `?filter=${filter}`,
    `?filter=${encodeURIComponent('{"amount":{"$lt":100}}')}`,
    `?filter=${encodeURIComponent('{"amount":{"$lte":100}}')}`,
  ];
  const responses = await Promise.all(queries.map((query) => read(ann, undefined, query)));
  const next = responses[1]!.body._links.next.href.split('?')[1];
  const page = await read(ann, undefined, `?${next}`);
  const tags = [...responses, page].map(({ tag }) => tag);
  expect(new Set(tags).size).toBe(tags.length);
  expect((await read(ann, page.tag, `?${next}`)).status).toBe(304);
  expect((await read(ann, undefined, '?limit=100')).tag).toBe(responses[0]!.tag);
});

/** Reads as bob, changes something, and reads again with the tag. Returns the rows that bob then gets. */
async function readAfter(bob: Client, { read }: Tagged, change: () => Promise<unknown>, query = '') {
  const before = await read(bob, undefined, query);
  expect(before.status).toBe(200);
  expect((await read(bob, before.tag, query)).status).toBe(304);
  await change();
  const after = await read(bob, before.tag, query);
  expect(after.status).toBe(200);
  return { before: before.body, after: after.body };
}
const idsOf = (body: any) => recordsOf(body).map(({ id }) => id);

test('a narrowed share is seen', async ({ ann, bob, tagged }) => {
  const narrow = () =>
    ann.put(`${tagged.dataset}/shares/${bob.id}`, {
      accessLevel: 1,
      datasetFilterId: tagged.filter,
      restrictFields: true,
      visibleFields: ['id'],
    });
  const { before, after } = await readAfter(bob, tagged, narrow);
  expect(recordsOf(before)[0]).toHaveProperty('region', 'EU');
  expect(recordsOf(after)).toEqual([{ id: 4 }, { id: 8 }, { id: 12 }, { id: 16 }, { id: 20 }]);
});

test('a changed filter of a share is seen', async ({ ann, bob, tagged }) => {
  const change = () => ann.put(`${tagged.dataset}/filters/${tagged.filter}`, { criteria: { region: 'US' } });
  const { before, after } = await readAfter(bob, tagged, change);
  expect([idsOf(before), idsOf(after)]).toEqual([
    [4, 8, 12, 16, 20],
    [1, 5, 9, 13, 17],
  ]);
});

test('a changed filter of the question is seen', async ({ ann, tagged }) => {
  const change = () => ann.put(`${tagged.dataset}/filters/${tagged.filter}`, { criteria: { id: 7 } });
  const { after } = await readAfter(ann, tagged, change, `?filter=${tagged.filter}`);
  expect(idsOf(after)).toEqual([7]);
});

test('a changed label is seen', async ({ ann, bob, tagged }) => {
  const change = () => ann.put(tagged.dataset, { fields: [{ name: 'id', label: 'Number' }] });
  const { after } = await readAfter(bob, tagged, change);
  expect(after.fields[0]).toMatchObject({ name: 'id', label: 'Number' });
});

test('a refresh is seen, and the promotion of a preview', async ({ ann, tagged }) => {
  const refresh = async () => {
    await ann.put(tagged.dataset, { query: 'select 1 as id' });
    await expectBody(ann.post(`${tagged.dataset}/_refresh`), 200, { records: 1 });
  };
  expect(idsOf((await readAfter(ann, tagged, refresh)).after)).toEqual([1]);
  await ann.put(tagged.dataset, { query: 'select 2 as id' });
  const { previewId } = (await ann.post(`${tagged.dataset}/_previewRefresh`)).body;
  const promote = () => expectBody(ann.post(`${tagged.dataset}/_promoteRefresh`, { previewId }), 200, { records: 1 });
  expect(idsOf((await readAfter(ann, tagged, promote)).after)).toEqual([2]);
});

test('a removed share is 404, whatever tag the client has', async ({ ann, bob, tagged }) => {
  const { tag } = await tagged.read(bob);
  await ann.delete(`${tagged.dataset}/shares/${bob.id}`);
  expect(await bob.get(`${tagged.dataset}/data`, { 'if-none-match': tag })).toMatchObject({ status: 404 });
});

test('the tag of another user is another one, also for the same rows', async ({ service, ann, bob, tagged }) => {
  const carol = await service.user(`carol-${Date.now()}`);
  await ann.put(`${tagged.dataset}/shares/${carol.id}`, { accessLevel: 1, datasetFilterId: tagged.filter });
  const [mine, hers, owners] = [await tagged.read(bob), await tagged.read(carol), await tagged.read(ann)];
  expect(idsOf(mine.body)).toEqual(idsOf(hers.body));
  expect(new Set([mine.tag, hers.tag, owners.tag]).size).toBe(3);
  for (const { tag } of [hers, owners]) expect((await tagged.read(bob, tag)).status).toBe(200);
});

test('an empty dataset has a tag until its first refresh', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source);
  const first = await ann.get(`/datasets/${id}/data`);
  expect(first).toMatchObject({ status: 200, body: { total: 0 } });
  const known = { 'if-none-match': first.headers.get('etag')! };
  expect((await ann.get(`/datasets/${id}/data`, known)).status).toBe(304);
  await ann.post(`/datasets/${id}/_refresh`);
  await expectBody(ann.get(`/datasets/${id}/data`, known), 200, { total: 20 });
});

import { describe, expect } from 'vitest';
import { FIXTURES, namesOf, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { recordStatements } from '../support/statement-log.ts';
import { systemQuery } from '../support/system-query.ts';

const findHits = async (
  client: Client,
  q: string,
  more = '',
): Promise<{ kind: string; id: string; name: string; score: number }[]> => {
  const response = await client.get(`/search?q=${encodeURIComponent(q)}${more}`);
  expect(response, JSON.stringify(response.body)).toMatchObject({ status: 200 });
  return response.body._embedded['svc:hit'];
};
const findNames = async (client: Client, q: string, more?: string): Promise<string[]> =>
  (await findHits(client, q, more)).map(({ name }) => name);
const createTag = async (client: Client, name: string): Promise<string> => (await client.creates('/tags', { name })).id;

/** Parts of other resources, and settings. */
const NOT_SEARCHED: readonly string[] = ['agents', 'ai-providers'];
const SEARCHED = Object.keys(FIXTURES).filter((kind) => !NOT_SEARCHED.includes(kind));

describe.each(SEARCHED)('a search among the %s', (kind) => {
  const { word, type } = namesOf(kind);

  test('finds the resources that the caller may read, with a link, in both APIs', async ({ admin, ann, stranger }) => {
    const key = await FIXTURES[kind]!.create(admin, `zanzibar ${kind}`);
    const [hit] = await findHits(admin, `zanzibar ${kind}`, `&kinds=${word}`);
    const name = kind === 'users' ? `zanzibar-${kind}` : `zanzibar ${kind}`;
    expect(hit).toMatchObject({
      kind: word,
      name,
      score: expect.any(Number),
      _links: { self: { href: `/api/${kind}/${key}` } },
    });
    await expectBody(admin.get(`/${kind}/${key}`), 200, { id: hit!.id });
    const result = (
      await admin.data(
        `{
          search(q: "zanzibar", kinds: [${word.toUpperCase()}]) {
            total
            items { kind id: resourceId name node { __typename id } }
          }
        }`,
      )
    ).search;
    expect(result).toEqual({
      total: 1,
      items: [
        {
          kind: word.toUpperCase(),
          id: hit!.id,
          name,
          node: { __typename: type, id: hit!.id },
        },
      ],
    });
    expect(await findNames(stranger, 'zanzibar')).toEqual([]);
    expect(await findNames(ann, 'zanzibar', `&kinds=${word}`)).toEqual(READABLE_BY_ALL.has(kind) ? [name] : []);

    if (!READABLE_BY_ALL.has(kind)) {
      await admin.put(`/${kind}/${key}/shares/ann`, { accessLevel: 1 });
      expect(await findNames(ann, 'zanzibar', `&kinds=${word}`)).toEqual([name]);
      await admin.delete(`/${kind}/${key}/shares/ann`);
      expect(await findNames(ann, 'zanzibar', `&kinds=${word}`)).toEqual([]);
      await admin.put(`/${kind}/${key}/owner`, { ownerId: 'ann' });
      expect((await findHits(ann, 'zanzibar', `&kinds=${word}`))[0]).toMatchObject({ ownerId: ann.id });
    }
    if (kind !== 'users') {
      const newSlug = kind === 'teams' || !READABLE_BY_ALL.has(kind) ? { slug: `tanganyika-${kind}` } : {};
      expect(await admin.put(`/${kind}/${key}`, { name: `tanganyika ${kind}`, ...newSlug })).toMatchObject({
        status: 200,
      });
      expect(await findNames(admin, 'zanzibar', `&kinds=${word}`)).toEqual([]);
      expect(await findNames(admin, 'tanganyika', `&kinds=${word}`)).toEqual([`tanganyika ${kind}`]);
    }
    expect(await admin.delete(`/${kind}/${key}`)).toMatchObject({
      status: expect.toSatisfy((status: number) => status < 300),
    });
    expect(await findNames(admin, kind === 'users' ? 'zanzibar' : 'tanganyika', `&kinds=${word}`)).toEqual([]);
  });
});

describe('a search', () => {
  test('ranks the exact name before names that begin with it, other names, other words and typing errors', async ({
    admin,
  }) => {
    const eu = await createTag(admin, 'revenue words');
    for (const [name, more] of [
      ['Revenue', {}],
      ['Revenue by region', {}],
      ['Monthly revenue', {}],
      ['Numbers', { description: 'All revenues of the year' }],
      ['Tagged', { tags: [eu] }],
      ['Revenu', {}],
      ['Reports', {}],
    ] as const) {
      await admin.creates('/reports', { name, ...more });
    }
    expect((await findHits(admin, 'revenue', '&kinds=report')).map(({ name, score }) => [name, score])).toEqual([
      ['Revenue', 1],
      ['Revenue by region', 0.8],
      ['Monthly revenue', 0.6],
      ['Numbers', 0.4],
      ['Tagged', 0.4],
      ['Revenu', 0.2],
    ]);
    for (const typingError of ['revenuee', 'rvenue', 'revanue', 'reveune', 'revenue'])
      expect(await findNames(admin, typingError, '&kinds=report'), typingError).toContain('Monthly revenue');
    expect(await findNames(admin, 'monthy revnue')).toEqual(['Monthly revenue']);
    for (const other of ['rvnue', 'revenue salary', 'evenue'])
      expect(await findNames(admin, other, '&kinds=report&limit=1'), other).toEqual(
        other === 'evenue' ? ['Monthly revenue'] : [],
      );
    expect(await findNames(admin, 'REG rev')).toEqual(['Revenue by region']);

    await admin.put(`/tags/${eu}`, { name: 'turnover' });
    expect(await findNames(admin, 'turnov')).toEqual(['turnover', 'Tagged']);
    await admin.delete(`/tags/${eu}`);
    expect(await findNames(admin, 'turnover')).toEqual([]);
  });

  test('ignores case and accents in all scripts, and has no query syntax', async ({ admin }) => {
    for (const name of [
      'Überstunden Łódź',
      'Straße 7',
      '東京タワー',
      'Παράδειγμα',
      'Ёлка',
      `O'Neil's "cost" & margin | tax`,
      'a\\b:c*',
      'data.v2_final',
    ])
      await admin.creates('/reports', { name });
    const queries: [q: string, name: string][] = [
      ['uberstunden', 'Überstunden Łódź'],
      ['LODZ', 'Überstunden Łódź'],
      ['strasse', 'Straße 7'],
      ['京', '東京タワー'],
      ['παραδ', 'Παράδειγμα'],
      ['елка', 'Ёлка'],
      [`neil's "cost"`, `O'Neil's "cost" & margin | tax`],
      ['cost | tax !', `O'Neil's "cost" & margin | tax`],
      ['b:c*', 'a\\b:c*'],
      ['v2 fin', 'data.v2_final'],
      ["';--neil", `O'Neil's "cost" & margin | tax`],
    ];
    for (const [q, name] of queries) expect(await findNames(admin, q), q).toEqual([name]);
    expect(await findNames(admin, '🎉x')).toEqual([]);
  });

  test('takes one statement, also by page and kind', async ({ admin, service }) => {
    for (let i = 0; i < 5; i++) await admin.creates('/reports', { name: `kilimanjaro ${i}` });
    await FIXTURES['apps']!.create(admin, 'kilimanjaro app');
    const { result, statements } = await recordStatements(service, () =>
      admin.get('/search?q=kilimanjaro&kinds=report,app&limit=2&start=2'),
    );
    expect(statements).toHaveLength(1);
    expect(result.body).toMatchObject({
      start: 2,
      count: 2,
      total: 6,
      _embedded: { 'svc:hit': [{ name: 'kilimanjaro 2' }, { name: 'kilimanjaro 3' }] },
      _links: { next: { href: '/api/search?q=kilimanjaro&kinds=report,app&limit=2&start=4' } },
    });
    expect((await admin.get('/search?q=kilimanjaro&start=50')).body).toMatchObject({ start: 50, count: 0, total: 6 });
    const nodes = await recordStatements(service, () =>
      admin.data(
        '{ search(q: "kilimanjaro") { items { node { id ... on Report { name } ... on App { name status } } } } }',
      ),
    );
    expect(nodes.statements).toHaveLength(3);
    expect(nodes.result.search.items).toHaveLength(6);
  });

  test('refuses a query without words or with invalid arguments', async ({ admin }) => {
    for (const q of [
      '',
      '%20',
      '%21%3F',
      'x'.repeat(501),
      Array.from({ length: 120 }, (_, i) => `w${i}`).join('%20'),
      'a%00b',
    ])
      expect(await admin.get(`/search?q=${q}`), q).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } });
    await expectError(admin.get('/search'), 400, /"q"/);
    await expectError(admin.get('/search?q=a&kinds=report,pie'), 400, /"kinds" must be one of .*dataset.*, not "pie"/);
    expect((await admin.gql('{ search(q: "a", kinds: [PIE]) { total } }')).errors[0].message).toContain('PIE');
    expect(await admin.get('/search?q=a&limit=1001')).toMatchObject({ status: 400 });
    expect((await admin.get('/search?q=a&kinds=')).body.total).toBe(0);
  });

  test('does not find drafts, snapshots, the query of a dataset or an undone change', async ({ admin, service }) => {
    const source = await FIXTURES['datasources']!.create(admin, 'serengeti source');
    const { id } = await admin.creates('/datasets', {
      name: 'serengeti',
      datasourceId: source,
      query: 'select 1 as hiddenword',
    });
    const insertChild = (name: string, flag: string) =>
      service.platform.system.query({
        text: `
          insert into dws.dataset (id, tenant_id, name, slug, owner_id, parent_id, ${flag})
          select gen_random_uuid(), tenant_id, $2, $2, owner_id, id, true
          from dws.dataset
          where id = $1`,
        values: [id, name],
      });
    await insertChild('serengeti-draft', 'is_draft');
    await insertChild('serengeti-snapshot', 'is_snapshot');
    expect(await findNames(admin, 'serengeti', '&kinds=dataset')).toEqual(['serengeti']);
    expect(await findNames(admin, 'hiddenword')).toEqual([]);
    await service.platform.system.query({
      text: `update dws.dataset set is_draft = false where slug = 'serengeti-draft'`,
    });
    expect(await findNames(admin, 'serengeti', '&kinds=dataset')).toEqual(['serengeti', 'serengeti-draft']);
    expect(
      await admin.post('/reports', { name: 'undone', tags: ['01900000-0000-7000-8000-000000000000'] }),
    ).toMatchObject({ status: 404 });
    expect(await findNames(admin, 'undone')).toEqual([]);
  });

  test('finds nothing of another tenant, even by direct SQL in the role of the service', async ({
    admin,
    stranger,
    service,
  }) => {
    await stranger.creates('/reports', { name: 'kalahari secret' });
    await admin.creates('/reports', { name: 'kalahari own' });
    const [tenant] = await service.platform.system.query<{ id: string }>({
      text: `select id from dws.tenant where slug = 'default'`,
    });
    const rows = await service.platform.database.query(tenant!.id, {
      text: `select folded from dws.search_matches('kalahari')`,
    });
    expect(rows).toEqual([{ folded: 'kalahari own' }]);
    expect(
      await service.platform.database.query(tenant!.id, {
        text: `select name from dws.search_entry where name like 'kalahari%'`,
      }),
    ).toEqual([{ name: 'kalahari own' }]);
  });
});

test('an entry has the words of its texts and the typing errors of its name', async ({ service }) => {
  const texts = [
    'Orders by region',
    'Émile’s Zürich ΑΣ straße',
    '日本語テスト query',
    '',
    '--',
    `It's \\ "odd" odd:1`,
    'ﬁne ½',
  ];
  for (const name of [...texts, `${'x'.repeat(70)} yy`])
    for (const description of [...texts, null]) {
      const [row] = await systemQuery<{ entry: string[]; words: string[] }>(
        service,
        `select tsvector_to_array(dws.search_document($1, null, null, $2)) as entry, array(
          select word from dws.words($1) word
          union select slip from dws.words($1) word, dws.misspellings(word) slip
          union select word from dws.words($2) word
        ) as words`,
        name,
        description,
      );
      expect(row!.entry.toSorted()).toEqual(row!.words.toSorted());
    }
});

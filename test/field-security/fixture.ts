import { expect, test as base } from 'vitest';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { startService, type Service } from '../support/service.ts';
import { makeSource, type Shop } from '../support/shop-fixture.ts';
import { HIDDEN, openTwinSource, VISIBLE_FIELDS, type Hidden } from './twin-source.ts';

/** One of two datasets of which the reader sees the same. */
export interface Twin {
  id: string;
  slug: string;
  name: string;
  /** The filter of the reader's share, which the admin owns. */
  shareFilter: string;
  /** A filter that the reader's team owns; it names hidden fields. */
  teamFilter: string;
  /** A filter of the reader's own. */
  ownFilter: string;
  /** The admin's refresh, an operation that counted all rows. */
  refresh: string;
}

export interface TwinWorld {
  service: Service;
  admin: Client;
  /** Sees some rows and some fields of both twins, by a share of level 3. */
  reader: Client;
  /** Sees another part. */
  other: Client;
  /** A team of the reader; `memberPlus`. */
  team: string;
  source: Shop;
  twins: readonly Twin[];
}

/** Where rows may live. */
const INDEXES = [
  { index: 'DuckDB', available: true, variables: async (): Promise<Record<string, string>> => ({}) },
  {
    index: 'Elasticsearch',
    available: HAS_ELASTICSEARCH,
    variables: async () => ({ ELASTICSEARCH_URL: (await elasticsearch()).url }),
  },
];

const success = (answer: { status: number }, what: string) => expect(answer, what).toMatchObject({ status: 200 });

/** Each step is the same for both; only what is hidden differs. */
async function makeTwin(
  { admin, reader, other, team }: Omit<TwinWorld, 'twins' | 'service' | 'source'>,
  datasourceId: string,
  { name, query, input, criteria, teamCriteria, othersFields }: Hidden,
): Promise<Twin> {
  const made = await admin.creates('/datasets', {
    name,
    description: 'One of two',
    datasourceId,
    query,
    fieldSecurityEnabled: true,
    ...input,
  });
  const path = `/datasets/${made.id}`;
  const begun = await admin.post(`${path}/_refresh`, {}, { prefer: 'respond-async' });
  await expect
    .poll(async () => (await admin.get(`/progress/${begun.body.id}`)).body.status, { timeout: 60_000 })
    .toBe('succeeded');
  const { fields } = (await admin.get(path)).body as { fields: { name: string }[] };
  const labels = fields
    .filter((field) => !VISIBLE_FIELDS.includes(field.name))
    .map((field) => ({
      name: field.name,
      label: `qzx label of ${field.name}`,
      description: `qzx words on ${field.name}`,
    }));
  success(
    await admin.put(path, { fields: [...labels, { name: 'region', label: 'Where', description: 'Where it went' }] }),
    'labels',
  );

  const filter = async (who: Client, given: object): Promise<string> =>
    (await who.creates(`${path}/filters`, given)).id;
  const shareFilter = await filter(admin, { name: 'qzx of the share', description: 'qzx described', criteria });
  success(
    await admin.put(`${path}/shares/${reader.id}`, {
      accessLevel: 3,
      datasetFilterId: shareFilter,
      restrictFields: true,
      visibleFields: VISIBLE_FIELDS,
    }),
    'share of the reader',
  );
  success(
    await admin.put(`${path}/shares/${other.id}`, {
      accessLevel: 1,
      datasetFilterId: shareFilter,
      restrictFields: true,
      visibleFields: othersFields,
    }),
    'share of the other',
  );
  const teamFilter = await filter(admin, { name: 'Of the team', criteria: teamCriteria, ownerId: `team:${team}` });
  return {
    id: made.id,
    slug: made.slug,
    name,
    shareFilter,
    teamFilter,
    ownFilter: await filter(reader, { name: 'Mine', criteria: { region: 'EU' } }),
    refresh: begun.body.id,
  };
}

async function makeWorld(service: Service, source: Shop): Promise<TwinWorld> {
  const admin = await service.user('admin', { superuser: true });
  const [reader, other] = [await service.user('reader'), await service.user('other')];
  const team = (await admin.creates('/teams', { name: 'Readers' })).id as string;
  success(await admin.put(`/teams/${team}/members/reader`, { role: 'memberPlus' }), 'membership');
  const datasource = await makeSource(admin, source, { name: 'qzx source' });
  const people = { admin, reader, other, team };
  const twins: Twin[] = [];
  for (const hidden of HIDDEN) twins.push(await makeTwin(people, datasource.id, hidden));

  // The last refresh of each failed, with a secret in its message.
  await source.sql('insert into qzx_switch values (1)');
  for (const { id } of twins)
    expect(await admin.post(`/datasets/${id}/_refresh`, {})).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining('qzx guard') },
    });
  await source.sql('delete from qzx_switch');
  return { service, source, ...people, twins };
}

/** Tests in a world of twins whose rows live in one of the indexes. */
const twinsIn = ({ variables }: (typeof INDEXES)[number]) =>
  base.extend<{ source: Shop; service: Service; world: TwinWorld }>({
    source: [
      async ({}, use) => {
        const source = await openTwinSource();
        await use(source);
        await source.drop();
      },
      { scope: 'file' },
    ],
    service: [
      async ({}, use) => {
        const service = await startService(await variables());
        await use(service);
        await service.close();
      },
      { scope: 'file' },
    ],
    world: [async ({ service, source }, use) => use(await makeWorld(service, source)), { scope: 'file' }],
  });

/** For each index that is installed here its tests; each file that uses them makes its own world. */
export const WORLDS = INDEXES.filter(({ available }) => available).map((place) => ({
  index: place.index,
  test: twinsIn(place),
}));
/** For what no index has a part in. */
export const { test } = WORLDS[0]!;

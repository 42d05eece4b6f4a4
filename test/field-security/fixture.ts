import { expect, test as base } from 'vitest';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { startService, type Service } from '../support/service.ts';
import { createSource, type Shop } from '../support/shop-fixture.ts';
import { HIDDEN_PARTS, openTwinSource, VISIBLE_FIELDS, type HiddenParts } from './twin-source.ts';

/** One of two datasets whose visible parts are equal for the reader. */
export interface Twin {
  id: string;
  slug: string;
  name: string;
  /** Id of the filter of the reader's share. The admin owns it. */
  shareFilter: string;
  /** Id of a filter that the reader's team owns. It contains hidden fields. */
  teamFilter: string;
  /** Id of a filter that the reader owns. */
  ownFilter: string;
  /** Id of the admin's refresh, an operation that counted all rows. */
  refresh: string;
}

export interface TwinWorld {
  service: Service;
  admin: Client;
  /** Has a restricted share of both twins with level 3. */
  reader: Client;
  /** Has a share with other fields. */
  other: Client;
  /** Id of a team in which the reader is `memberPlus`. */
  team: string;
  source: Shop;
  twins: readonly Twin[];
}

/** The dataset indexes. */
const INDEXES = [
  { index: 'DuckDB', available: true, variables: async (): Promise<Record<string, string>> => ({}) },
  {
    index: 'Elasticsearch',
    available: HAS_ELASTICSEARCH,
    variables: async () => ({ ELASTICSEARCH_URL: (await elasticsearch()).url }),
  },
];

const expectOk = (response: { status: number }, what: string) => expect(response, what).toMatchObject({ status: 200 });

/** Creates a twin. Only the hidden parts differ. */
async function createTwin(
  { admin, reader, other, team }: Omit<TwinWorld, 'twins' | 'service' | 'source'>,
  datasourceId: string,
  { name, query, input, criteria, teamCriteria, othersFields }: HiddenParts,
): Promise<Twin> {
  const dataset = await admin.creates('/datasets', {
    name,
    description: 'One of two',
    datasourceId,
    query,
    fieldSecurityEnabled: true,
    ...input,
  });
  const path = `/datasets/${dataset.id}`;
  const refresh = await admin.post(`${path}/_refresh`, {}, { prefer: 'respond-async' });
  await expect.poll(async () => (await admin.get(`/progress/${refresh.body.id}`)).body.status).toBe('succeeded');
  const { fields } = (await admin.get(path)).body as { fields: { name: string }[] };
  const labels = fields
    .filter((field) => !VISIBLE_FIELDS.includes(field.name))
    .map((field) => ({
      name: field.name,
      label: `qzx label of ${field.name}`,
      description: `qzx words on ${field.name}`,
    }));
  expectOk(
    await admin.put(path, { fields: [...labels, { name: 'region', label: 'Where', description: 'Where it went' }] }),
    'labels',
  );

  const createFilter = async (who: Client, input: object): Promise<string> =>
    (await who.creates(`${path}/filters`, input)).id;
  const shareFilter = await createFilter(admin, { name: 'qzx of the share', description: 'qzx described', criteria });
  expectOk(
    await admin.put(`${path}/shares/${reader.id}`, {
      accessLevel: 3,
      datasetFilterId: shareFilter,
      restrictFields: true,
      visibleFields: VISIBLE_FIELDS,
    }),
    'share of the reader',
  );
  expectOk(
    await admin.put(`${path}/shares/${other.id}`, {
      accessLevel: 1,
      datasetFilterId: shareFilter,
      restrictFields: true,
      visibleFields: othersFields,
    }),
    'share of the other',
  );
  const teamFilter = await createFilter(admin, {
    name: 'Of the team',
    criteria: teamCriteria,
    ownerId: `team:${team}`,
  });
  return {
    id: dataset.id,
    slug: dataset.slug,
    name,
    shareFilter,
    teamFilter,
    ownFilter: await createFilter(reader, { name: 'Mine', criteria: { region: 'EU' } }),
    refresh: refresh.body.id,
  };
}

async function createWorld(service: Service, source: Shop): Promise<TwinWorld> {
  const admin = await service.user('admin', { superuser: true });
  const [reader, other] = [await service.user('reader'), await service.user('other')];
  const team = (await admin.creates('/teams', { name: 'Readers' })).id as string;
  expectOk(await admin.put(`/teams/${team}/members/reader`, { role: 'memberPlus' }), 'membership');
  const datasource = await createSource(admin, source, { name: 'qzx source' });
  const people = { admin, reader, other, team };
  const twins: Twin[] = [];
  for (const hidden of HIDDEN_PARTS) twins.push(await createTwin(people, datasource.id, hidden));

  // The last refresh of each twin fails with a secret in its message.
  await source.sql('insert into qzx_switch values (1)');
  for (const { id } of twins)
    expect(await admin.post(`/datasets/${id}/_refresh`, {})).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining('qzx guard') },
    });
  await source.sql('delete from qzx_switch');
  return { service, source, ...people, twins };
}

/** Creates a test with twins whose rows are in one of the indexes. */
const createTest = ({ variables }: (typeof INDEXES)[number]) =>
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
    world: [async ({ service, source }, use) => use(await createWorld(service, source)), { scope: 'file' }],
  });

/** One test for each index that is installed here. Each file gets its own twins. */
export const WORLDS = INDEXES.filter(({ available }) => available).map((place) => ({
  index: place.index,
  test: createTest(place),
}));
/** The test for behavior that does not depend on the index. */
export const { test } = WORLDS[0]!;

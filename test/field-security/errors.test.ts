import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { expectAlike, expectNoSecret, normalize } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { encodeFilter } from './row-queries.ts';

type Request = (who: Client, twin: Twin, name: string) => Promise<{ status: number; body?: unknown; errors?: unknown }>;

const filters: readonly ((name: string) => object)[] = [
  (name) => ({ [name]: 'x' }),
  (name) => ({ [name]: 1 }),
  (name) => ({ [name]: { $exists: false } }),
  (name) => ({ [name]: { $ne: null } }),
  (name) => ({ [name]: { $near: 1 } }),
  (name) => ({ [name]: { $gte: {} } }),
  (name) => ({ [name]: { $regex: '[' } }),
  (name) => ({ $not: { [name]: 1 } }),
  (name) => ({ $or: [{ region: 'EU' }, { [name]: { $in: [] } }] }),
  (name) => ({ $and: [{ region: 'nowhere' }, { [name]: 1 }] }),
  (name) => ({ region: { $eq: { [name]: 1 } } }),
];

/** Requests with the name of a field, in every place that accepts one. */
const REQUESTS: Record<string, Request> = {
  sort: (who, { id }, name) => who.get(`/datasets/${id}/data?sort=${name}`),
  'descending sort': (who, { id }, name) => who.get(`/datasets/${id}/data?sort=region,-${name}`),
  fields: (who, { id }, name) => who.get(`/datasets/${id}/data?fields=id,${name}`),
  'fields by POST': (who, { id }, name) => who.post(`/datasets/${id}/_search`, { fields: [name] }),
  'discovered field': (who, { id }, name) => who.get(`/datasets/${id}/discover?fields=${name}`),
  group: (who, { id }, name) =>
    who.post(`/datasets/${id}/_aggregate`, { groupBy: [{ field: name }], measures: [{ fn: 'count', as: 'n' }] }),
  'group by interval': (who, { id }, name) =>
    who.post(`/datasets/${id}/_aggregate`, { groupBy: [{ field: name, interval: 'day' }], measures: [] }),
  'order of groups': (who, { id }, name) =>
    who.post(`/datasets/${id}/_aggregate`, {
      groupBy: [{ field: 'region' }],
      measures: [{ fn: 'count', as: 'n' }],
      sort: name,
    }),
  ...Object.fromEntries(
    ['count', 'sum', 'avg', 'min', 'max', 'countDistinct'].map((fn): [string, Request] => [
      fn,
      (who, { id }, name) => who.post(`/datasets/${id}/_aggregate`, { measures: [{ fn, field: name, as: 'x' }] }),
    ]),
  ),
  ...Object.fromEntries(
    filters.flatMap((filter, i): [string, Request][] => [
      [`filter ${i}`, (who, { id }, name) => who.get(`/datasets/${id}/data?filter=${encodeFilter(filter(name))}`)],
      [
        `filter ${i} of statistics`,
        (who, { id }, name) => who.get(`/datasets/${id}/discover?filter=${encodeFilter(filter(name))}`),
      ],
      [
        `filter ${i} of groups`,
        (who, { id }, name) =>
          who.post(`/datasets/${id}/_aggregate`, { measures: [{ fn: 'count', as: 'n' }], filter: filter(name) }),
      ],
      [
        `filter ${i} that is saved`,
        (who, { id }, name) => who.post(`/datasets/${id}/filters`, { name: 'X', criteria: filter(name) }),
      ],
      [
        `filter ${i} by GraphQL`,
        (who, { id }, name) =>
          who.gql('query ($id: ID!, $filter: RowFilter) { dataset(id: $id) { data(filter: $filter) { total } } }', {
            id,
            filter: filter(name),
          }),
      ],
      [
        `own filter changed to ${i}`,
        (who, { id, ownFilter }, name) => who.put(`/datasets/${id}/filters/${ownFilter}`, { criteria: filter(name) }),
      ],
    ]),
  ),
  'sort by GraphQL': (who, { id }, name) => who.gql(`{ dataset(id: "${id}") { data(sort: "${name}") { items } } }`),
  'fields by GraphQL': (who, { id }, name) =>
    who.gql(`{ dataset(id: "${id}") { data(fields: ["${name}"]) { items } } }`),
  'discovered field by GraphQL': (who, { id }, name) =>
    who.gql(`{ dataset(id: "${id}") { discover(fields: ["${name}"]) { total } } }`),
  'group by GraphQL': (who, { id }, name) =>
    who.gql(`{ dataset(id: "${id}") { aggregate(groupBy: [{ field: "${name}" }], measures: []) { total } } }`),
  'measure by GraphQL': (who, { id }, name) =>
    who.gql(`{ dataset(id: "${id}") { aggregate(measures: [{ fn: MAX, field: "${name}", as: "x" }]) { rows } } }`),
};

/** Names of hidden fields of at least one twin, each with a name that no dataset has. */
const NAMES: readonly [hidden: string, unknown: string][] = [
  ['qzx_region', 'abc_region'],
  ['qzx_salary', 'abc_salary'],
  ['qzx_doc', 'abc_doc'],
  ['qzx_twice', 'abc_twice'],
  ['Region', 'rEgion'],
];

/** Returns a response as text with a placeholder for the requested name. */
const normalizeName = (response: Awaited<ReturnType<Request>>, twin: Twin, name: string): string =>
  normalize(response, twin).replaceAll(name, '<field>').replaceAll(encodeURIComponent(name), '<field>');

describe.each(WORLDS)(
  'with rows in $index, errors do not distinguish hidden from unknown fields',
  { timeout: 300_000 },
  ({ test }) => {
    test.for(Object.keys(REQUESTS))('%s', async (request, { world: { reader, twins } }) => {
      for (const twin of twins) {
        for (const [hidden, unknown] of NAMES) {
          const [ofHidden, ofUnknown] = [
            await REQUESTS[request]!(reader, twin, hidden),
            await REQUESTS[request]!(reader, twin, unknown),
          ];
          expect(JSON.parse(normalizeName(ofHidden, twin, hidden)), hidden).toEqual(
            JSON.parse(normalizeName(ofUnknown, twin, unknown)),
          );
          expect(ofHidden.errors ?? ofHidden.status, hidden).toEqual(
            ofHidden.errors
              ? expect.arrayContaining([
                  expect.objectContaining({ extensions: expect.objectContaining({ code: 'BAD_USER_INPUT' }) }),
                ])
              : 400,
          );
        }
      }
    });

    test('saved filters of others are not found, and errors of a team’s filter have no hidden names', async ({
      world,
    }) => {
      const { reader, twins } = world;
      for (const filterOf of [({ shareFilter }: Twin) => shareFilter, ({ teamFilter }: Twin) => teamFilter]) {
        const statuses = await Promise.all([
          expectAlike(world, 'data', (twin) => reader.get(`/datasets/${twin.id}/data?filter=${filterOf(twin)}`)),
          expectAlike(world, 'search', (twin) =>
            reader.post(`/datasets/${twin.id}/_search`, { filter: filterOf(twin) }),
          ),
          expectAlike(world, 'discover', (twin) =>
            reader.get(`/datasets/${twin.id}/discover?filter=${filterOf(twin)}`),
          ),
          expectAlike(world, 'aggregate', (twin) =>
            reader.post(`/datasets/${twin.id}/_aggregate`, {
              measures: [{ fn: 'count', as: 'n' }],
              filter: filterOf(twin),
            }),
          ),
          expectAlike(world, 'export', (twin) =>
            reader.get(`/datasets/${twin.id}/export?format=csv&filter=${filterOf(twin)}`),
          ),
        ]);
        for (const { status } of statuses) expect([400, 404]).toContain(status);
      }
      const [one, other] = twins as [Twin, Twin];
      await expectError(
        reader.get(`/datasets/${one.id}/data?filter=${one.shareFilter}`),
        404,
        `There is no filter ${one.shareFilter}`,
      );
      expect(
        await reader.get(`/datasets/${one.id}/data?filter=${other.ownFilter}`),
        'a filter of another dataset',
      ).toMatchObject({ status: 404 });
      const combined = await reader.get(`/datasets/${one.id}/data?filter=${one.teamFilter}&sort=id&q=zoe`);
      expectNoSecret(normalize(combined, one));
    });

    test('malformed criteria are refused with equal errors', async ({ world }) => {
      for (const filter of [
        '{"region":',
        '{}}',
        '[]',
        '{"$where": 1}',
        '{"region": {"$near": 1}}',
        '{"amount": "qz"}',
        '{"region": {"$regex": "("}}',
        '{"region": {"$regex": "(a+)+$"}}',
        '{"day": "never"}',
        '{"units": {"$in": 1}}',
        '{"$or": {}}',
      ]) {
        expect(
          (
            await expectAlike(world, filter, ({ id }) =>
              world.reader.get(`/datasets/${id}/data?filter=${encodeFilter(filter)}`),
            )
          ).status,
          filter,
        ).toBeGreaterThanOrEqual(200);
      }
    });
  },
);

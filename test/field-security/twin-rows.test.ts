import { describe, expect } from 'vitest';
import { ALL } from '../../src/core/criteria/tree.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { expectAlike, expectAllAlike } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { recordIndexQueries, withoutRows } from './recording-index.ts';
import { AGGREGATIONS, encodeFilter, FILTERS, SORTS, WORDS } from './row-queries.ts';
import { HIDDEN_PARTS, SECRET, VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

/*
 * Two datasets, the twins, have equal rows and fields that a restricted reader may see, and different hidden ones.
 * Every query of rows returns equal results for both (docs/contract/access.md#restricted-shares). The other files of
 * this folder cover the other endpoints.
 */

const get =
  (client: Client, rest: string) =>
  ({ id }: Twin) =>
    client.get(`/datasets/${id}${rest}`);

/** Loads all pages of a twin's rows. */
async function loadPages(
  client: Client,
  { id }: Twin,
  query: string,
): Promise<{ rows: { id: number }[]; next: string | null; total: number }[]> {
  const all = [];
  let after = '';
  do {
    const { status, body } = await client.get(`/datasets/${id}/data?${query}${after}`);
    expect(status).toBe(200);
    all.push({ rows: body._embedded['svc:record'], next: body.next as string | null, total: body.total });
    after = body.next ? `&after=${encodeURIComponent(body.next)}` : '';
  } while (after && all.length < 50);
  return all;
}

describe.each(WORLDS)(
  'with rows in $index, a restricted reader gets equal results for both twins',
  { timeout: 300_000 },
  ({ test }) => {
    test('the twins differ for an unrestricted reader', async ({ world: { admin, twins } }) => {
      for (const [i, twin] of twins.entries()) {
        const { body } = await admin.get(`/datasets/${twin.id}/data?limit=1000`);
        expect(body.total).toBe(VISIBLE_ROWS + HIDDEN_PARTS[i]!.rows);
        expect(JSON.stringify(body.fields)).toContain(SECRET);
      }
      expect((await admin.get(`/datasets/${twins[1]!.id}/data?q=qzxzebra`)).body.total).toBe(HIDDEN_PARTS[1]!.rows);
    });

    test('in pages of rows', async ({ world }) => {
      const { body } = await expectAlike(world, 'all', get(world.reader, '/data'));
      expect(body).toMatchObject({ total: VISIBLE_ROWS, count: VISIBLE_ROWS, next: null });
      expect(body.fields.map(({ name }: { name: string }) => name)).toEqual(VISIBLE_FIELDS);
      expect(Object.keys(body._embedded['svc:record'][0])).toEqual(VISIBLE_FIELDS);
      await expectAllAlike(
        world,
        ['?limit=5', '?start=10&limit=7', '?start=39', '?start=40', '?start=9000', '?fields=note,id', '?fields=id'],
        (twin, query) => get(world.reader, `/data${query}`)(twin),
      );
    });

    test('with filters', async ({ world }) => {
      await expectAllAlike(world, FILTERS, ({ id }, filter) =>
        world.reader.get(`/datasets/${id}/data?filter=${encodeFilter(filter)}`),
      );
      const { body } = await expectAlike(world, 'own filter', (twin) =>
        world.reader.get(`/datasets/${twin.id}/data?filter=${twin.ownFilter}`),
      );
      expect(body.total).toBe(10);
    });

    test('with search words', async ({ world }) => {
      await expectAllAlike(world, WORDS, ({ id }, q) =>
        world.reader.get(`/datasets/${id}/data?q=${encodeURIComponent(q)}`),
      );
      for (const [q, total] of [
        ['rush', 8],
        ['zoe 5', 1],
        ['qzxzebra', 0],
        ['qzx', 0],
        ['bergamot', 0],
        ['open', 0],
      ]) {
        for (const { id } of world.twins)
          expect((await world.reader.get(`/datasets/${id}/data?q=${q}`)).body.total, String(q)).toBe(total);
      }
    });

    test('in every sort order', async ({ world }) => {
      await expectAllAlike(world, SORTS, ({ id }, sort) => world.reader.get(`/datasets/${id}/data?sort=${sort}`));
    });

    test('in searches by POST', async ({ world }) => {
      await expectAllAlike(
        world,
        [
          {},
          { q: 'zoe', sort: '-id', limit: 3 },
          { filter: { region: 'EU' }, fields: ['day', 'id'] },
          { filter: { amount: { $gt: 700_000 } } },
        ],
        ({ id }, search) => world.reader.post(`/datasets/${id}/_search`, search),
      );
    });

    test('with cursors, which return all pages and are opaque', async ({ world }) => {
      const { reader, service, twins } = world;
      const generations = await service.platform.system.query<{ id: string }>({
        text: 'select id from dws.generation',
      });
      for (const sort of ['', ...SORTS]) {
        const [one, other] = [
          await loadPages(reader, twins[0]!, `limit=9&sort=${sort}`),
          await loadPages(reader, twins[1]!, `limit=9&sort=${sort}`),
        ];
        expect(
          other.map(({ next, ...page }) => ({ ...page, next: next?.length })),
          sort,
        ).toEqual(one.map(({ next, ...page }) => ({ ...page, next: next?.length })));
        expect(
          one.map(({ rows }) => rows.length),
          sort,
        ).toEqual([9, 9, 9, 9, 4]);
        expect(new Set(one.flatMap(({ rows }) => rows.map(({ id }) => id))).size, sort).toBe(VISIBLE_ROWS);
        for (const { next } of [...one, ...other])
          if (next)
            expectOpaque(
              next,
              generations.map(({ id }) => id),
            );
      }
    });

    test('with foreign, modified and forged cursors', async ({ world: { admin, reader, twins, service } }) => {
      for (const { id } of twins) {
        const [{ generation }] = (await service.platform.system.query<{ generation: string }>({
          text: 'select generation_id as generation from dws.dataset where id = $1',
          values: [id],
        })) as [{ generation: string }];
        const forged = [0, 1, 5].flatMap((row) => {
          const inner = Buffer.from(JSON.stringify([generation, row])).toString('base64url');
          return [inner, `${generation}.${inner}`, `${generation}.${row}`];
        });
        const own = (await reader.get(`/datasets/${id}/data?limit=1`)).body.next as string;
        const middle = Math.floor(own.length / 2);
        const modified = [
          own.slice(0, -2),
          own.slice(1),
          own.slice(0, middle) + (own[middle] === 'A' ? 'B' : 'A') + own.slice(middle + 1),
        ];
        for (const after of [...forged, ...modified, generation]) {
          const { status, body } = await reader.get(`/datasets/${id}/data?after=${encodeURIComponent(after)}`);
          expect([status, JSON.stringify(body.message).includes(generation)], after).toEqual([400, false]);
        }
        const cursorOfHiddenRow = (await admin.get(`/datasets/${id}/data?limit=1&sort=-amount`)).body.next as string;
        await expectError(
          reader.get(`/datasets/${id}/data?sort=-amount&after=${encodeURIComponent(cursorOfHiddenRow)}`),
          400,
        );
      }
    });

    test('in statistics of fields', async ({ world }) => {
      const { body } = await expectAlike(world, 'all', get(world.reader, '/discover'));
      expect(body).toMatchObject({ total: VISIBLE_ROWS, fields: VISIBLE_FIELDS.map((name) => ({ name })) });
      expect(body.fields[0]).toMatchObject({
        count: VISIBLE_ROWS,
        min: 1000,
        max: 40_000,
        distinct: VISIBLE_ROWS,
        approximate: false,
      });
      await expectAllAlike(world, VISIBLE_FIELDS, ({ id }, field) =>
        world.reader.get(`/datasets/${id}/discover?fields=${field}`),
      );
      await expectAllAlike(world, FILTERS, ({ id }, filter) =>
        world.reader.get(`/datasets/${id}/discover?fields=amount,note&filter=${encodeFilter(filter)}`),
      );
    });

    test('in aggregations', async ({ world }) => {
      await expectAllAlike(world, AGGREGATIONS, ({ id }, aggregation) =>
        world.reader.post(`/datasets/${id}/_aggregate`, aggregation),
      );
      await expectAllAlike(world, FILTERS, ({ id }, filter) =>
        world.reader.post(`/datasets/${id}/_aggregate`, {
          groupBy: [{ field: 'region' }],
          measures: [{ fn: 'count', as: 'n' }],
          filter,
        }),
      );
    });

    test('in GraphQL', async ({ world }) => {
      const document = `
        query ($id: ID!, $filter: RowFilter, $q: String, $sort: String) {
          dataset(id: $id) {
            data(filter: $filter, q: $q, sort: $sort, limit: 9) {
              items fields { name label type format description } start count next total
            }
            discover(filter: $filter, fields: ["region", "day"]) {
              total
              fields {
                name type count missing distinct approximate min max avg stdDev
                top { value count } histogram { from to count }
              }
            }
            aggregate(
              groupBy: [{ field: "region" }, { field: "at", interval: MONTH }]
              measures: [{ fn: COUNT, as: "n" }, { fn: MAX, field: "amount", as: "most" }]
              filter: $filter, q: $q, sort: "-n"
            ) { columns { name label type } rows total truncated }
          }
        }
      `;
      for (const variables of [
        {},
        { q: 'qzx' },
        { q: 'rush', sort: '-day' },
        { sort: 'region' },
        ...FILTERS.map((filter) => ({ filter })),
      ]) {
        const { status, data, errors } = await expectAlike(world, JSON.stringify(variables), ({ id }) =>
          world.reader.gql(document, { id, ...variables }),
        );
        expect([status, errors, data.dataset.discover.total <= VISIBLE_ROWS]).toEqual([200, undefined, true]);
      }
    });

    test('because the index receives equal queries over visible fields', async ({
      world: { service, reader, twins },
    }) => {
      const recorded = [];
      for (const { id } of twins) {
        const queries = await recordIndexQueries(service.platform, async () => {
          for (const query of ['', '?q=rush&sort=-day', '?q=qzx&fields=id&filter=%7B%22region%22%3A%22EU%22%7D'])
            expect((await reader.get(`/datasets/${id}/data${query}`)).status).toBe(200);
          expect((await reader.get(`/datasets/${id}/discover`)).status).toBe(200);
          for (const aggregation of AGGREGATIONS)
            expect((await reader.post(`/datasets/${id}/_aggregate`, aggregation)).status).toBe(200);
          for (const format of ['csv', 'parquet'])
            expect((await reader.get(`/datasets/${id}/export?format=${format}&q=zoe`)).status).toBe(200);
          await expectBody(reader.get(`/datasets/${id}`), 200, { records: VISIBLE_ROWS });
        });
        for (const { query } of queries) expect(query.visible).not.toEqual(ALL);
        recorded.push(queries.map(withoutRows));
      }
      expect(recorded[1]).toEqual(recorded[0]);
      expect(recorded[0]!.length).toBeGreaterThan(AGGREGATIONS.length);
      // Search words are excluded: they are the same as in the request.
      expect(JSON.stringify(recorded.flat().map((query) => ({ ...query, words: [] })))).not.toMatch(
        new RegExp(`${SECRET}|"Region"`),
      );
    });
  },
);

/** Expects an encrypted cursor: its bytes are not text and contain no id of a generation. */
function expectOpaque(cursor: string, generations: readonly string[]): void {
  for (const part of [cursor, ...cursor.split('.')]) {
    const bytes = Buffer.from(part, 'base64url');
    expect(
      [...bytes].every((byte) => byte >= 0x20 && byte < 0x7f),
      `${cursor} is readable: ${bytes.toString()}`,
    ).toBe(false);
    for (const id of generations)
      expect(
        [cursor.includes(id), bytes.includes(id), bytes.toString('hex').includes(id.replaceAll('-', ''))],
        'a generation is named',
      ).toEqual([false, false, false]);
  }
}

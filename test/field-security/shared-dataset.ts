import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { test as base } from '../support/shop-fixture.ts';

/** Twelve rows: zones n, s, e in turn, `rank` from 1 to 12. */
const ROWS_QUERY = `
  select n as rank, (array['n', 's', 'e'])[1 + n % 3] as zone, 'a' || n as a, 'b' || n as b, 'c' || n as c
  from generate_series(1, 12) n`;
export const ALL_FIELDS = ['rank', 'zone', 'a', 'b', 'c'];
const RANKS: Record<string, number[]> = { n: [3, 6, 9, 12], s: [1, 4, 7, 10], e: [2, 5, 8, 11] };

export interface ShareInput {
  accessLevel?: number;
  datasetFilterId?: string | null;
  restrictFields?: boolean;
  visibleFields?: string[] | null;
}

/** A dataset of these rows, with one filter per zone. */
class SharedDataset {
  readonly id: string;
  readonly owner: Client;
  readonly filters: Record<string, string>;

  constructor(owner: Client, id: string, filters: Record<string, string>) {
    this.owner = owner;
    this.id = id;
    this.filters = filters;
  }

  get path(): string {
    return `/datasets/${this.id}`;
  }

  /** Replaces the share of a principal. Default: View without restrictions. */
  async share(principal: string, share: ShareInput = {}): Promise<void> {
    expect(
      await this.owner.put(`${this.path}/shares/${principal}`, {
        accessLevel: 1,
        datasetFilterId: null,
        restrictFields: false,
        visibleFields: null,
        ...share,
      }),
    ).toMatchObject({ status: 200 });
  }

  /** Changes the query and refreshes. */
  async replaceRows(query: string, refresh: object = {}): Promise<void> {
    expect(await this.owner.put(this.path, { query })).toMatchObject({ status: 200 });
    expect(await this.owner.post(`${this.path}/_refresh`, refresh)).toMatchObject({ status: 200 });
  }

  /** Returns the fields, row count and ranks that a user sees. Expects each endpoint to return the same. */
  async viewOf(who: Client): Promise<{ fields: string[]; total: number; ranks: number[] }> {
    const { status, body } = await who.get(`${this.path}/data`);
    expect(status).toBe(200);
    const rows = body._embedded['svc:record'] as { rank: number }[];
    const fields = body.fields.map(({ name }: { name: string }) => name) as string[];
    const record = (await who.get(this.path)).body;
    expect([record.records, record.fields.map(({ name }: { name: string }) => name)]).toEqual([body.total, fields]);
    expect((await who.post(`${this.path}/_aggregate`, { measures: [{ fn: 'count', as: 'n' }] })).body.rows).toEqual([
      [body.total],
    ]);
    expect((await who.get(`${this.path}/discover`)).body).toMatchObject({
      total: body.total,
      fields: fields.map((name) => ({ name })),
    });
    for (const row of rows) expect(Object.keys(row)).toEqual(fields);
    return {
      fields,
      total: body.total,
      ranks: rows
        .map(({ rank }) => rank)
        .filter((rank) => rank !== undefined)
        .toSorted((a, b) => a - b),
    };
  }

  async permissionsOf(who: Client): Promise<string[]> {
    const { body } = await who.get(`${this.path}/permissions`);
    return Object.keys(body).filter((ability) => body[ability]);
  }
}

/** Returns the view of a user with these zones and fields. */
export const expectedView = (zones: string, fields: string[] = ALL_FIELDS) => {
  const ranks = [...zones].flatMap((zone) => RANKS[zone]!).toSorted((a, b) => a - b);
  return { fields, total: ranks.length, ranks: fields.includes('rank') ? ranks : [] };
};

/** The shop, and functions that create such datasets and teams. */
export const test = base.extend<{
  rows: (more?: object) => Promise<SharedDataset>;
  team: (...members: [string, string][]) => Promise<string>;
}>({
  rows: [
    async ({ ann, source }, use) =>
      use(async (more = {}) => {
        const { id } = await ann.creates('/datasets', {
          name: 'Rows',
          datasourceId: source.id,
          query: ROWS_QUERY,
          refresh: true,
          fieldSecurityEnabled: true,
          ...more,
        });
        const filter = async (name: string, criteria: object) =>
          (await ann.creates(`/datasets/${id}/filters`, { name, criteria })).id as string;
        return new SharedDataset(ann, id, {
          n: await filter('North', { zone: 'n' }),
          s: await filter('South', { zone: 's' }),
          e: await filter('East', { zone: 'e' }),
          n2: await filter('North again', { zone: { $in: ['n'] } }),
        });
      }),
    { scope: 'file' },
  ],
  team: [
    async ({ admin }, use) => {
      let count = 0;
      await use(async (...members) => {
        const { id } = await admin.creates('/teams', { name: `Team ${count++}` });
        for (const [username, role] of members)
          expect(await admin.put(`/teams/${id}/members/${username}`, { role })).toMatchObject({ status: 200 });
        return `team:${id}`;
      });
    },
    { scope: 'file' },
  ],
});

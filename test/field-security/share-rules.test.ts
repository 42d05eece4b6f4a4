import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { ALL_FIELDS, expectedView, test } from './shared-dataset.ts';

describe('a restricted share', () => {
  test('is created and returned by both APIs', async ({ rows, ann, bob }) => {
    const { id, path, filters } = await rows();
    const part = { accessLevel: 2, datasetFilterId: filters['n'], restrictFields: true, visibleFields: ['rank', 'a'] };
    await expectBody(ann.put(`${path}/shares/bob`, part), 200, {
      datasetId: id,
      principalId: bob.id,
      ...part,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await ann.get(`${path}/shares/${bob.id}`)).body).toMatchObject(part);
    expect((await ann.put(`${path}/shares/bob`, { accessLevel: 1 })).body, 'absent keys stay unchanged').toMatchObject({
      ...part,
      accessLevel: 1,
    });
    expect((await ann.get(`${path}/shares`)).body).toMatchObject({
      total: 1,
      _embedded: { 'svc:share': [{ ...part, accessLevel: 1 }] },
    });
    expect(
      (
        await ann.data(
          `
            {
              dataset(id: "${id}") {
                shares { principalId accessLevel datasetFilterId restrictFields visibleFields }
              }
            }
          `,
        )
      ).dataset.shares,
    ).toEqual([{ principalId: bob.id, ...part, accessLevel: 'VIEW' }]);
    const { shareDataset } = await ann.data(
      `
        mutation ($input: DatasetShareInput!) {
          shareDataset(id: "${id}", principalId: "bob", input: $input) {
            accessLevel datasetFilterId restrictFields visibleFields
          }
        }
      `,
      { input: { accessLevel: 'ADMIN', datasetFilterId: null, restrictFields: false, visibleFields: null } },
    );
    expect(shareDataset).toEqual({
      accessLevel: 'ADMIN',
      datasetFilterId: null,
      restrictFields: false,
      visibleFields: null,
    });
  });

  test('shows no row by the beginning of a long text', async ({ rows, ann, bob }) => {
    const dataset = await rows();
    await dataset.replaceRows(
      `select n as rank, (array['n', 's', 'e'])[1 + n % 3] as zone, 'a' as a, 'b' as b,
        case n when 1 then 'public' when 2 then repeat('x', 8000) || 'secret' when 3 then repeat('x', 8000) || 'public'
          when 4 then 'secret' when 5 then repeat('x', 8000) end as c
      from generate_series(1, 6) n`,
      { updateTypeMapping: true },
    );
    const long = `${'x'.repeat(8000)}public`;
    for (const [criteria, ranks] of [
      [{ c: { $not: { $regex: 'secret' } } }, []],
      [{ $or: [{ rank: 6 }, { c: { $not: { $regex: 'secret' } } }] }, [6]],
      [{ c: long }, []],
      [{ c: { $in: ['secret', long] } }, []],
      [{ c: { $gt: long } }, []],
      [{ c: { $not: { $lt: long } } }, []],
      [{ c: { $regex: 'x$' } }, []],
      [{ c: { $ne: long } }, [1, 4, 6]],
      [{ c: { $nin: ['public', long] } }, [4, 6]],
      [{ c: { $not: { $in: ['secret'] } } }, [1, 2, 3, 5, 6]],
      [{ c: { $regex: '^xx' } }, [2, 3, 5]],
      [{ c: 'secret' }, [4]],
      [{ c: { $gt: 'x' } }, [2, 3, 5]],
      [{ c: null }, [6]],
    ] as const) {
      const { id: datasetFilterId } = await ann.creates(`${dataset.path}/filters`, { name: 'Long', criteria });
      await dataset.share('bob', { datasetFilterId });
      const { data } = await bob.gql(`{ dataset(id: "${dataset.id}") { data { items } } }`);
      const graphql = data.dataset.data.items.map(({ rank }: { rank: number }) => rank);
      const shown = [criteria, (await dataset.viewOf(bob)).ranks, graphql.toSorted((a: number, b: number) => a - b)];
      expect(shown).toEqual([criteria, ranks, ranks]);
    }
  });

  test('is refused with an unknown level, filter or field', async ({ rows, ann, admin, bob }) => {
    const [dataset, other] = [await rows(), await rows()];
    const put = (body: object) => ann.put(`${dataset.path}/shares/bob`, body);
    for (const accessLevel of [0, 4, -1, 1.5, 'x', null, undefined])
      expect((await put({ accessLevel })).status, String(accessLevel)).toBe(400);
    for (const datasetFilterId of [UNKNOWN_ID, other.filters['n']!, 'nowhere', ''])
      expect(await put({ accessLevel: 1, datasetFilterId }), datasetFilterId).toMatchObject({
        status: 404,
        body: { message: `There is no filter ${datasetFilterId}` },
      });
    const { id: privateFilter } = await admin.creates(`${dataset.path}/filters`, { name: 'Private', criteria: {} });
    expect(
      await put({ accessLevel: 1, datasetFilterId: privateFilter }),
      'a filter that the caller may not read',
    ).toMatchObject({ status: 404 });
    for (const visibleFields of [['rank', 'colour'], ['Rank'], ['']])
      expect(
        (await put({ accessLevel: 1, restrictFields: true, visibleFields })).status,
        JSON.stringify(visibleFields),
      ).toBe(400);
    expect((await put({ accessLevel: 1, rows: 'all' })).status).toBe(400);
    expect(await bob.get(dataset.path), 'nothing was saved').toMatchObject({ status: 404 });
    const open = await rows({ fieldSecurityEnabled: false });
    await expectError(
      ann.put(`${open.path}/shares/bob`, { accessLevel: 1, restrictFields: true, visibleFields: ['rank'] }),
      400,
    );
    expect(
      await ann.put(`${open.path}/shares/bob`, { accessLevel: 1, datasetFilterId: open.filters['n'] }),
      'row filters do not require field security',
    ).toMatchObject({ status: 200 });
    expect(await open.viewOf(bob)).toEqual(expectedView('n'));
  });

  test('cannot be granted without dataset:share, nor by restricted readers', async ({ rows, service, bob }) => {
    const dataset = await rows();
    const carol = await service.user(`carol-${dataset.id.slice(-6)}`);
    const shareWith = (accessLevel: number) => bob.put(`${dataset.path}/shares/${carol.id}`, { accessLevel });
    for (const share of [
      { accessLevel: 1 },
      { accessLevel: 2 },
      { accessLevel: 3, datasetFilterId: dataset.filters['n'] },
      { accessLevel: 3, restrictFields: true, visibleFields: ALL_FIELDS },
    ]) {
      await dataset.share('bob', share);
      for (const level of [1, 2, 3])
        expect(await shareWith(level)).toMatchObject({
          status: 403,
          body: { message: 'You lack the permission dataset:share' },
        });
      expect(
        await bob.gql(
          `
            mutation {
              shareDataset(id: "${dataset.id}", principalId: "bob", input: { accessLevel: ADMIN, restrictFields: false }) {
                accessLevel
              }
            }
          `,
        ),
      ).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    }
    await dataset.share('bob', { accessLevel: 3 });
    expect(await shareWith(3)).toMatchObject({ status: 200 });
  });
});

describe('a share shows', () => {
  test('no rows while a field of its filter is missing or has another type', async ({ rows, bob }) => {
    const dataset = await rows();
    await dataset.share('bob', { datasetFilterId: dataset.filters['n'] });
    await dataset.replaceRows(`select n as rank, 'a' || n as a from generate_series(1, 12) n`);
    expect(await dataset.viewOf(bob)).toEqual({ fields: ['rank', 'a'], total: 0, ranks: [] });
    for (const format of ['csv', 'ndjson'])
      expect((await bob.get(`${dataset.path}/export?format=${format}`)).body).not.toContain('a1');
    await dataset.replaceRows(`select n as rank, n % 3 as zone, 'a' || n as a from generate_series(1, 12) n`);
    expect((await dataset.viewOf(bob)).total).toBe(0);
    await dataset.replaceRows(
      `select n as rank, (array['n', 's', 'e'])[1 + n % 3] as zone from generate_series(1, 12) n`,
    );
    expect(await dataset.viewOf(bob)).toEqual(expectedView('n', ['rank', 'zone']));
  });

  test('no rows while the field of a negated filter is missing', async ({ rows, ann, bob }) => {
    const dataset = await rows();
    const { id } = await ann.creates(`${dataset.path}/filters`, {
      name: 'Not north',
      criteria: { $not: { zone: 'n' } },
    });
    await dataset.share('bob', { datasetFilterId: id });
    expect((await dataset.viewOf(bob)).total).toBe(8);
    await dataset.replaceRows(`select n as rank from generate_series(1, 12) n`);
    expect((await dataset.viewOf(bob)).total).toBe(0);
  });

  test('no rows while the field of a negated filter is empty because the source no longer has it', async ({
    rows,
    ann,
    bob,
  }) => {
    const dataset = await rows();
    const { id } = await ann.creates(`${dataset.path}/filters`, {
      name: 'Not north',
      criteria: { zone: { $ne: 'n' } },
    });
    await dataset.share('bob', { datasetFilterId: id });
    await dataset.replaceRows(`select n as rank from generate_series(1, 12) n`, { syncFields: false });
    expect((await dataset.viewOf(bob)).total).toBe(0);
  });

  test('the rows of the other shares when one filter does not fit', async ({ rows, team, ann, bob }) => {
    const dataset = await rows();
    const { id } = await ann.creates(`${dataset.path}/filters`, { name: 'High', criteria: { rank: { $gte: 10 } } });
    await dataset.share('bob', { datasetFilterId: dataset.filters['n'] });
    await dataset.share(await team(['bob', 'member']), { datasetFilterId: id });
    await dataset.replaceRows(`select n as rank from generate_series(1, 12) n`);
    expect(await dataset.viewOf(bob)).toEqual({ fields: ['rank'], total: 3, ranks: [10, 11, 12] });
  });

  test('fields that a refresh adds only if it shows all fields', async ({ rows, bob }) => {
    const dataset = await rows();
    const query = `
      select n as rank, (array['n', 's', 'e'])[1 + n % 3] as zone, 'secret' as fresh
      from generate_series(1, 12) n`;
    await dataset.share('bob', { restrictFields: true, visibleFields: ['rank', 'a'] });
    await dataset.replaceRows(query);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('nse', ['rank']));
    expect((await bob.get(`${dataset.path}/data?q=secret`)).body.total).toBe(0);
    await dataset.share('bob', { datasetFilterId: dataset.filters['n'] });
    expect(await dataset.viewOf(bob)).toEqual(expectedView('n', ['rank', 'zone', 'fresh']));
  });

  test('only its rows through cursors of an earlier share', async ({ rows, bob }) => {
    const dataset = await rows();
    const loadAfter = async (after: string) => {
      const { status, body } = await bob.get(`${dataset.path}/data?after=${encodeURIComponent(after)}`);
      return status === 200
        ? { rows: body._embedded['svc:record'] as object[], total: body.total as number }
        : { rows: [], total: 0 };
    };
    await dataset.share('bob');
    const before = (await bob.get(`${dataset.path}/data?limit=1`)).body.next as string;
    await dataset.share('bob', {
      datasetFilterId: dataset.filters['s'],
      restrictFields: true,
      visibleFields: ['rank', 'zone'],
    });
    const { rows: remaining } = await loadAfter(before);
    for (const row of remaining) expect(row).toEqual({ rank: expect.any(Number), zone: 's' });

    await dataset.replaceRows(`select n as rank from generate_series(1, 12) n`);
    await dataset.share('bob');
    const beforeZones = (await bob.get(`${dataset.path}/data?limit=1`)).body.next as string;
    await dataset.replaceRows(
      `select n as rank, (array['n', 's', 'e'])[1 + n % 3] as zone from generate_series(1, 12) n`,
    );
    await dataset.share('bob', { datasetFilterId: dataset.filters['s'] });
    expect(await loadAfter(beforeZones)).toEqual({ rows: [], total: 0 });
  });
});

describe('field security', () => {
  test('hides fields only while it is on, and does not affect rows', async ({ rows, ann, bob }) => {
    const [dataset, other] = [await rows(), await rows()];
    for (const one of [dataset, other])
      await one.share('bob', { datasetFilterId: one.filters['n'], restrictFields: true, visibleFields: ['rank'] });
    await expectBody(ann.post('/dataset-field-report-access', { [dataset.id]: false, [other.id]: true }), 200, {
      updated: 2,
      datasets: { [dataset.id]: false, [other.id]: true },
    });
    expect(await dataset.viewOf(bob)).toEqual(expectedView('n'));
    expect(await dataset.permissionsOf(bob)).toEqual(['read']);
    expect(await other.viewOf(bob)).toEqual(expectedView('n', ['rank']));
    expect(
      (
        await ann.data(
          'mutation ($datasets: JSONObject!) { setDatasetFieldSecurity(datasets: $datasets) { updated datasets } }',
          { datasets: { [dataset.id]: true } },
        )
      ).setDatasetFieldSecurity,
    ).toEqual({ updated: 1, datasets: { [dataset.id]: true } });
    expect(await dataset.viewOf(bob)).toEqual(expectedView('n', ['rank']));
    expect((await ann.put(dataset.path, { fieldSecurityEnabled: false })).status).toBe(200);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('n'));
  });

  test('is changed for all listed datasets or for none', async ({ rows, ann, bob, admin }) => {
    const dataset = await rows();
    const foreign = (
      await admin.creates('/datasets', {
        name: 'Foreign',
        datasourceId: (await ann.get(dataset.path)).body.datasourceId,
        query: 'select 1 as one',
      })
    ).id as string;
    const post = (body: unknown, who = ann) => who.post('/dataset-field-report-access', body);
    for (const [body, status] of [
      [{ [dataset.id]: false, [UNKNOWN_ID]: true }, 404],
      [{ [dataset.id]: false, [foreign]: true }, 404],
      [{ [dataset.id]: 'no' }, 400],
      [{ [dataset.id]: null }, 400],
      [[dataset.id], 400],
    ] as const) {
      expect((await post(body)).status, JSON.stringify(body)).toBe(status);
      expect((await ann.get(dataset.path)).body.fieldSecurityEnabled).toBe(true);
    }
    await dataset.share('bob', { accessLevel: 2 });
    expect(await post({ [dataset.id]: false }, bob)).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission dataset:share' },
    });
    await expectError(
      bob.put(dataset.path, { fieldSecurityEnabled: false }),
      403,
      'You lack the permission dataset:share',
    );
  });
});

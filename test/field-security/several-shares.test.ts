import { describe, expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { ALL_FIELDS, seen, test, type ShareInput } from './shared-rows.ts';

/* What somebody sees who has several shares (contract 3, "Row filters of several shares combine with OR"). */

const READ = ['read'];
const VIEW = ['read', 'copy'];

describe('of one share', () => {
  test('the filter says which rows, the fields which columns, each alone and both together', async ({ rows, bob }) => {
    const dataset = await rows();
    for (const [share, wanted] of [
      [{ datasetFilterId: dataset.filters['n'] }, seen('n')],
      [{ restrictFields: true, visibleFields: ['rank', 'a'] }, seen('nse', ['rank', 'a'])],
      [
        { datasetFilterId: dataset.filters['s'], restrictFields: true, visibleFields: ['b', 'rank'] },
        seen('s', ['rank', 'b']),
      ],
      [{ datasetFilterId: dataset.filters['s'], restrictFields: true, visibleFields: ['b'] }, seen('s', ['b'])],
      [{ datasetFilterId: dataset.filters['e'], restrictFields: false, visibleFields: ['rank'] }, seen('e')],
    ] as [ShareInput, unknown][]) {
      await dataset.share('bob', share);
      expect(await dataset.seenBy(bob), JSON.stringify(share)).toEqual(wanted);
      expect(await dataset.abilitiesOf(bob)).toEqual(READ);
    }
  });

  test('the level gives read, and above View the adding of visuals, and nothing else', async ({ rows, bob }) => {
    const dataset = await rows();
    for (const [accessLevel, abilities] of [
      [1, ['read']],
      [2, ['read', 'addVisual']],
      [3, ['read', 'addVisual']],
    ] as const) {
      for (const share of [
        { datasetFilterId: dataset.filters['n'] },
        { restrictFields: true, visibleFields: ['rank'] },
      ]) {
        await dataset.share('bob', { accessLevel, ...share });
        expect(await dataset.abilitiesOf(bob)).toEqual(abilities);
        expect(
          (
            await bob.data(
              `{ dataset(id: "${dataset.id}") { permissions { read write copy share addVisual deleteVisual } } }`,
            )
          ).dataset.permissions,
        ).toEqual({
          read: true,
          write: false,
          copy: false,
          share: false,
          addVisual: accessLevel > 1,
          deleteVisual: false,
        });
      }
    }
    for (const [accessLevel, abilities] of [
      [1, VIEW],
      [2, ['read', 'write', 'edit', 'refresh', 'copy', 'addVisual', 'deleteVisual', 'assignTags']],
    ] as const) {
      await dataset.share('bob', { accessLevel });
      expect((await dataset.abilitiesOf(bob)).toSorted()).toEqual(abilities.toSorted());
    }
  });

  test('with restricted fields and none that is visible, no field is', async ({ rows, bob }) => {
    const dataset = await rows();
    for (const visibleFields of [[], null]) {
      const { status } = await dataset.owner.put(`${dataset.path}/shares/bob`, {
        accessLevel: 1,
        restrictFields: true,
        visibleFields,
      });
      if (status === 200) expect((await bob.get(`${dataset.path}/data`)).body).toMatchObject({ fields: [] });
      else expect(status).toBe(400);
    }
  });
});

/** Shares of bob's own and of teams he is in, and what he sees by them together. */
const TOGETHER: [what: string, shares: (f: Record<string, string>) => ShareInput[], wanted: ReturnType<typeof seen>][] =
  [
    ['rows of one filter or the other', (f) => [{ datasetFilterId: f['n'] }, { datasetFilterId: f['s'] }], seen('ns')],
    [
      'rows of three filters',
      (f) => [{ datasetFilterId: f['n'] }, { datasetFilterId: f['s'] }, { datasetFilterId: f['e'] }],
      seen('nse'),
    ],
    [
      'of the same rows all fields of either',
      (f) => [
        { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['rank', 'a'] },
        { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['b', 'rank'] },
      ],
      seen('n', ['rank', 'a', 'b']),
    ],
    [
      'of all rows all fields of either',
      () => [
        { restrictFields: true, visibleFields: ['rank', 'a'] },
        { restrictFields: true, visibleFields: ['c'] },
      ],
      seen('nse', ['rank', 'a', 'c']),
    ],
    [
      'of other rows the fields of both',
      (f) => [
        { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['rank', 'a'] },
        { datasetFilterId: f['s'], restrictFields: true, visibleFields: ['b', 'rank'] },
      ],
      seen('ns', ['rank']),
    ],
    [
      'of other rows no field that one of them hides',
      (f) => [
        { datasetFilterId: f['n'] },
        { datasetFilterId: f['s'], restrictFields: true, visibleFields: ['rank', 'b'] },
      ],
      seen('ns', ['rank', 'b']),
    ],
    [
      'all rows with the fields of one, not all rows with all fields',
      (f) => [{ datasetFilterId: f['n'] }, { restrictFields: true, visibleFields: ['rank', 'c'] }],
      seen('nse', ['rank', 'c']),
    ],
    [
      'of fields that do not meet, none',
      (f) => [
        { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['a'] },
        { datasetFilterId: f['s'], restrictFields: true, visibleFields: ['b'] },
      ],
      seen('ns', []),
    ],
    [
      'all, by a share without restriction',
      (f) => [{ datasetFilterId: f['n'], restrictFields: true, visibleFields: ['a'] }, {}],
      seen('nse'),
    ],
  ];

describe('of several shares, one sees', () => {
  test.for(TOGETHER)('%s', async ([, shares, wanted], { rows, team, bob }) => {
    const dataset = await rows();
    const given = shares(dataset.filters);
    // The first is his own, the others his teams'; then all of them are teams'.
    const principals = await Promise.all(given.map(async (_share, i) => (i === 0 ? 'bob' : team(['bob', 'member']))));
    for (const [i, share] of given.entries()) await dataset.share(principals[i]!, share);
    expect(await dataset.seenBy(bob)).toEqual(wanted);
    await dataset.owner.delete(`${dataset.path}/shares/bob`);
    await dataset.share(await team(['bob', 'member'], ['admin', 'admin']), given[0]);
    expect(await dataset.seenBy(bob)).toEqual(wanted);
  });

  test('the level of the unrestricted ones, whatever the restricted ones say', async ({ rows, team, bob }) => {
    const dataset = await rows();
    await dataset.share('bob', { accessLevel: 3, datasetFilterId: dataset.filters['n'] });
    await dataset.share(await team(['bob', 'member']), { accessLevel: 1 });
    expect((await dataset.abilitiesOf(bob)).filter((ability) => ability !== 'addVisual')).toEqual(VIEW);
    await expectError(bob.put(dataset.path, { name: 'Mine' }), 403, 'You lack the permission dataset:write');
    await expectError(bob.put(`${dataset.path}/shares/admin`, { accessLevel: 1 }), 403);
    expect(await dataset.seenBy(bob)).toEqual(seen('nse'));
  });
});

describe('nobody loses by a restricted share what they have otherwise:', () => {
  test('neither the owner, nor a member of the owning team, nor a superuser', async ({
    rows,
    team,
    bob,
    ann,
    admin,
  }) => {
    const dataset = await rows();
    const restricted = { datasetFilterId: dataset.filters['n'], restrictFields: true, visibleFields: ['a'] };
    for (const principal of ['ann', 'admin']) await dataset.share(principal, restricted);
    for (const who of [ann, admin]) expect(await dataset.seenBy(who)).toEqual(seen('nse'));
    const owners = await team(['bob', 'member'], ['ann', 'admin']);
    await dataset.share('bob', restricted);
    expect((await dataset.seenBy(bob)).total).toBe(4);
    expect((await dataset.owner.put(`${dataset.path}/owner`, { ownerId: owners })).status).toBe(200);
    expect(await dataset.seenBy(bob)).toEqual(seen('nse'));
    expect(await dataset.abilitiesOf(bob)).toEqual(VIEW);
  });

  test('who leaves the team sees what is left', async ({ rows, team, bob, admin }) => {
    const dataset = await rows();
    const all = await team(['bob', 'member']);
    await dataset.share('bob', { datasetFilterId: dataset.filters['e'] });
    await dataset.share(all);
    expect(await dataset.seenBy(bob)).toEqual(seen('nse', ALL_FIELDS));
    expect((await admin.delete(`/teams/${all.slice(5)}/members/bob`)).status).toBe(204);
    expect(await dataset.seenBy(bob)).toEqual(seen('e'));
    expect((await dataset.owner.delete(`${dataset.path}/shares/bob`)).status).toBe(204);
    await expectError(bob.get(dataset.path), 404);
  });
});

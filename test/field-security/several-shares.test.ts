import { describe, expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { ALL_FIELDS, expectedView, test, type ShareInput } from './shared-dataset.ts';

/* How several shares combine: docs/contract/access.md#restricted-shares */

const READ = ['read'];
const VIEW = ['read', 'copy'];

describe('one share', () => {
  test('restricts the rows, the fields, or both', async ({ rows, bob }) => {
    const dataset = await rows();
    for (const [share, view] of [
      [{ datasetFilterId: dataset.filters['n'] }, expectedView('n')],
      [{ restrictFields: true, visibleFields: ['rank', 'a'] }, expectedView('nse', ['rank', 'a'])],
      [
        { datasetFilterId: dataset.filters['s'], restrictFields: true, visibleFields: ['b', 'rank'] },
        expectedView('s', ['rank', 'b']),
      ],
      [{ datasetFilterId: dataset.filters['s'], restrictFields: true, visibleFields: ['b'] }, expectedView('s', ['b'])],
      [{ datasetFilterId: dataset.filters['e'], restrictFields: false, visibleFields: ['rank'] }, expectedView('e')],
    ] as [ShareInput, unknown][]) {
      await dataset.share('bob', share);
      expect(await dataset.viewOf(bob), JSON.stringify(share)).toEqual(view);
      expect(await dataset.permissionsOf(bob)).toEqual(READ);
    }
  });

  test('with restrictions grants only read access, and adding visuals above View', async ({ rows, bob }) => {
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
        expect(await dataset.permissionsOf(bob)).toEqual(abilities);
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
      expect((await dataset.permissionsOf(bob)).toSorted()).toEqual(abilities.toSorted());
    }
  });

  test('shows no fields when none are visible', async ({ rows, bob }) => {
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

/** Combinations of shares of bob and of his teams, and the resulting view. */
const COMBINATIONS: [
  what: string,
  shares: (f: Record<string, string>) => ShareInput[],
  view: ReturnType<typeof expectedView>,
][] = [
  ['rows of either filter', (f) => [{ datasetFilterId: f['n'] }, { datasetFilterId: f['s'] }], expectedView('ns')],
  [
    'rows of three filters',
    (f) => [{ datasetFilterId: f['n'] }, { datasetFilterId: f['s'] }, { datasetFilterId: f['e'] }],
    expectedView('nse'),
  ],
  [
    'all fields of either share, for equal rows',
    (f) => [
      { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['rank', 'a'] },
      { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['b', 'rank'] },
    ],
    expectedView('n', ['rank', 'a', 'b']),
  ],
  [
    'all fields of either share, for all rows',
    () => [
      { restrictFields: true, visibleFields: ['rank', 'a'] },
      { restrictFields: true, visibleFields: ['c'] },
    ],
    expectedView('nse', ['rank', 'a', 'c']),
  ],
  [
    'only the fields of both shares, for different rows',
    (f) => [
      { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['rank', 'a'] },
      { datasetFilterId: f['s'], restrictFields: true, visibleFields: ['b', 'rank'] },
    ],
    expectedView('ns', ['rank']),
  ],
  [
    'no field that one share hides, for different rows',
    (f) => [
      { datasetFilterId: f['n'] },
      { datasetFilterId: f['s'], restrictFields: true, visibleFields: ['rank', 'b'] },
    ],
    expectedView('ns', ['rank', 'b']),
  ],
  [
    'all rows with the fields of one share, not with all fields',
    (f) => [{ datasetFilterId: f['n'] }, { restrictFields: true, visibleFields: ['rank', 'c'] }],
    expectedView('nse', ['rank', 'c']),
  ],
  [
    'no fields, if the shares have none in common',
    (f) => [
      { datasetFilterId: f['n'], restrictFields: true, visibleFields: ['a'] },
      { datasetFilterId: f['s'], restrictFields: true, visibleFields: ['b'] },
    ],
    expectedView('ns', []),
  ],
  [
    'everything, with an unrestricted share',
    (f) => [{ datasetFilterId: f['n'], restrictFields: true, visibleFields: ['a'] }, {}],
    expectedView('nse'),
  ],
];

describe('several shares show', () => {
  test.for(COMBINATIONS)('%s', async ([, shares, view], { rows, team, bob }) => {
    const dataset = await rows();
    const inputs = shares(dataset.filters);
    // First, one share is bob's own and the others are of his teams. Then all are of his teams.
    const principals = await Promise.all(inputs.map(async (_share, i) => (i === 0 ? 'bob' : team(['bob', 'member']))));
    for (const [i, share] of inputs.entries()) await dataset.share(principals[i]!, share);
    expect(await dataset.viewOf(bob)).toEqual(view);
    await dataset.owner.delete(`${dataset.path}/shares/bob`);
    await dataset.share(await team(['bob', 'member'], ['admin', 'admin']), inputs[0]);
    expect(await dataset.viewOf(bob)).toEqual(view);
  });

  test('the level of the unrestricted shares only', async ({ rows, team, bob }) => {
    const dataset = await rows();
    await dataset.share('bob', { accessLevel: 3, datasetFilterId: dataset.filters['n'] });
    await dataset.share(await team(['bob', 'member']), { accessLevel: 1 });
    expect((await dataset.permissionsOf(bob)).filter((ability) => ability !== 'addVisual')).toEqual(VIEW);
    await expectError(bob.put(dataset.path, { name: 'Mine' }), 403, 'You lack the permission dataset:write');
    await expectError(bob.put(`${dataset.path}/shares/admin`, { accessLevel: 1 }), 403);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('nse'));
  });
});

describe('a restricted share does not reduce other access', () => {
  test('of the owner, a member of the owning team, or a superuser', async ({ rows, team, bob, ann, admin }) => {
    const dataset = await rows();
    const restricted = { datasetFilterId: dataset.filters['n'], restrictFields: true, visibleFields: ['a'] };
    for (const principal of ['ann', 'admin']) await dataset.share(principal, restricted);
    for (const who of [ann, admin]) expect(await dataset.viewOf(who)).toEqual(expectedView('nse'));
    const owners = await team(['bob', 'member'], ['ann', 'admin']);
    await dataset.share('bob', restricted);
    expect((await dataset.viewOf(bob)).total).toBe(4);
    expect((await dataset.owner.put(`${dataset.path}/owner`, { ownerId: owners })).status).toBe(200);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('nse'));
    expect(await dataset.permissionsOf(bob)).toEqual(VIEW);
  });

  test('but remains when the user leaves the team', async ({ rows, team, bob, admin }) => {
    const dataset = await rows();
    const all = await team(['bob', 'member']);
    await dataset.share('bob', { datasetFilterId: dataset.filters['e'] });
    await dataset.share(all);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('nse', ALL_FIELDS));
    expect((await admin.delete(`/teams/${all.slice(5)}/members/bob`)).status).toBe(204);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('e'));
    expect((await dataset.owner.delete(`${dataset.path}/shares/bob`)).status).toBe(204);
    await expectError(bob.get(dataset.path), 404);
  });
});

import { expect } from 'vitest';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

/** The world with a dataset of the shop's orders that secures its fields, and a filter on it. */
const test = base.extend<{ path: string; eu: string }>({
  path: [
    async ({ ann, source }, use) => {
      const { id } = await ann.creates('/datasets', {
        name: 'Orders',
        datasourceId: source.id,
        query: ORDERS_QUERY,
        refresh: true,
      });
      await ann.put(`/datasets/${id}`, { fieldSecurityEnabled: true });
      await use(`/datasets/${id}`);
    },
    { scope: 'file' },
  ],
  eu: [
    async ({ ann, path }, use) =>
      use((await ann.creates(`${path}/filters`, { name: 'EU', criteria: { region: 'EU' } })).id),
    { scope: 'file' },
  ],
});

const NOTHING = {
  read: false,
  write: false,
  refresh: false,
  copy: false,
  share: false,
  edit: false,
  delete: false,
  addVisual: false,
  deleteVisual: false,
  assignTags: false,
  changeOwner: false,
};

test('the owner, a superuser and somebody without access are explained', async ({ ann, admin, bob, path }) => {
  expect((await ann.get(`${path}/access`)).body).toEqual({
    principal: { id: ann.id, name: 'ann', type: 'user' },
    level: 'owner',
    partial: false,
    permissions: Object.fromEntries(Object.keys(NOTHING).map((name) => [name, true])),
    because: [
      {
        via: 'owner',
        level: 'owner',
        role: null,
        principal: { id: ann.id, name: 'ann', type: 'user' },
        datasetFilterId: null,
        filter: null,
        visibleFields: null,
        message: 'ann owns the dataset',
      },
    ],
    rowFilter: null,
    allRows: true,
    visibleFields: ['id', 'region', 'amount', 'ordered_on', 'note'],
    hiddenFields: [],
  });
  expect((await ann.get(`${path}/access?principal=${admin.username}`)).body).toMatchObject({
    level: 'owner',
    because: [{ via: 'superuser', principal: null }],
  });
  expect((await ann.get(`${path}/access?principal=bob`)).body).toMatchObject({
    principal: { id: bob.id },
    level: 'none',
    partial: false,
    permissions: NOTHING,
    because: [],
    allRows: false,
    visibleFields: [],
  });
  expect(await ann.get(`${path}/access?principal=nobody-here`)).toMatchObject({
    status: 404,
    body: { message: 'There is no user nobody-here' },
  });
  expect(await bob.get(`${path}/access`)).toMatchObject({ status: 404 });
});

test('shares of a part are explained: to those who may share with rows and fields, to those they are for without what is hidden', async ({
  ann,
  bob,
  admin,
  path,
  eu,
}) => {
  await ann.put(`${path}/shares/bob`, {
    accessLevel: 2,
    datasetFilterId: eu,
    restrictFields: true,
    visibleFields: ['id', 'amount'],
  });
  const permissions = { ...NOTHING, read: true, addVisual: true };
  const share = {
    via: 'share',
    level: 'edit',
    role: null,
    principal: { id: bob.id, name: 'bob', type: 'user' },
    datasetFilterId: eu,
    visibleFields: ['id', 'amount'],
    message: 'The dataset is shared with bob, limited to the rows of a filter and some of the fields',
  };
  const common = {
    principal: { id: bob.id, name: 'bob', type: 'user' },
    level: 'edit',
    partial: true,
    permissions,
    allRows: false,
    visibleFields: ['id', 'amount'],
  };
  expect((await ann.get(`${path}/access?principal=bob`)).body).toEqual({
    ...common,
    because: [{ ...share, filter: 'EU' }],
    rowFilter: { region: 'EU' },
    hiddenFields: ['region', 'ordered_on', 'note'],
  });
  expect((await bob.get(`${path}/access`)).body).toEqual({
    ...common,
    because: [{ ...share, filter: null }],
    rowFilter: null,
    hiddenFields: null,
  });
  expect((await bob.get(`${path}/permissions`)).body).toEqual(permissions);
  expect(await bob.get(`${path}/access?principal=ann`)).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission dataset:share' },
  });

  const team = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'admin' });
  await ann.put(`${path}/shares/team:${team.id}`, { accessLevel: 1 });
  expect((await bob.get(`${path}/access`)).body).toMatchObject({
    level: 'view',
    partial: false,
    permissions: { ...NOTHING, read: true, copy: true },
    because: [
      share,
      {
        via: 'share',
        level: 'view',
        principal: { id: `team:${team.id}`, name: 'Readers', type: 'team' },
        message: 'The dataset is shared with the team Readers',
      },
    ].map((one) => ({ ...one, filter: null })),
    allRows: true,
    hiddenFields: [],
  });
  expect((await ann.get(`${path}/access?principal=team:${team.id}`)).body).toMatchObject({
    principal: { id: `team:${team.id}` },
    level: 'view',
    because: [{ via: 'share' }],
  });
  const told = (
    await ann.data(
      `{ dataset(id: "${path.split('/').at(-1)}") { access(principal: "bob") { level partial allRows because { via level principal { name } } permissions { read copy write } } } }`,
    )
  ).dataset.access;
  expect(told).toEqual({
    level: 'VIEW',
    partial: false,
    allRows: true,
    because: [
      { via: 'SHARE', level: 'EDIT', principal: { name: 'bob' } },
      { via: 'SHARE', level: 'VIEW', principal: { name: 'Readers' } },
    ],
    permissions: { read: true, copy: true, write: false },
  });
  await ann.delete(`${path}/shares/team:${team.id}`);
  await ann.delete(`${path}/shares/bob`);
});

test('a role in the team that owns it is explained', async ({ ann, bob, admin, source }) => {
  const team = await admin.creates('/teams', { name: 'Holders' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
  const { id } = await ann.creates('/datasets', {
    name: 'Held',
    datasourceId: source.id,
    query: ORDERS_QUERY,
    ownerId: `team:${team.id}`,
  });
  expect((await bob.get(`/datasets/${id}/access`)).body).toMatchObject({
    level: 'view',
    because: [
      {
        via: 'team',
        level: 'view',
        role: 'member',
        principal: { name: 'Holders' },
        message: 'The team Holders owns the dataset; the role in the team is member',
      },
    ],
  });
  expect((await admin.get(`/datasets/${id}/access?principal=ann`)).body).toMatchObject({
    level: 'edit',
    because: [{ via: 'team', level: 'edit', role: 'memberPlus' }],
  });
});

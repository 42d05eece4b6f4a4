import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { test as base } from '../support/shop-fixture.ts';
import { createOrders, createTeam } from './dataset-fixture.ts';

/** The shop with a dataset of its orders that has field security, and a filter on it. */
const test = base.extend<{ dataset: { id: string }; path: string; euFilter: string }>({
  dataset: [
    async ({ ann, source }, use) => {
      const dataset = await createOrders(ann, source, { refresh: true });
      await ann.put(`/datasets/${dataset.id}`, { fieldSecurityEnabled: true });
      await use(dataset);
    },
    { scope: 'file' },
  ],
  path: [async ({ dataset }, use) => use(`/datasets/${dataset.id}`), { scope: 'file' }],
  euFilter: [
    async ({ ann, path }, use) => {
      const { id } = await ann.creates(`${path}/filters`, { name: 'EU', criteria: { region: 'EU' } });
      await use(id);
    },
    { scope: 'file' },
  ],
});

const NO_PERMISSIONS = {
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
const ALL_PERMISSIONS = Object.fromEntries(Object.keys(NO_PERMISSIONS).map((name) => [name, true]));

test('the access of the owner is explained', async ({ ann, path }) => {
  const principal = { id: ann.id, name: 'ann', type: 'user' };
  const { status, body } = await ann.get(`${path}/access`);
  expect(status).toBe(200);
  expect(body).toEqual({
    principal,
    level: 'owner',
    partial: false,
    permissions: ALL_PERMISSIONS,
    because: [
      {
        via: 'owner',
        level: 'owner',
        role: null,
        principal,
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
});

test('the access of a superuser is explained', async ({ ann, admin, path }) => {
  await expectBody(ann.get(`${path}/access?principal=${admin.username}`), 200, {
    level: 'owner',
    because: [{ via: 'superuser', principal: null }],
  });
});

test('that a user has no access is explained', async ({ ann, bob, path }) => {
  await expectBody(ann.get(`${path}/access?principal=bob`), 200, {
    principal: { id: bob.id },
    level: 'none',
    partial: false,
    permissions: NO_PERMISSIONS,
    because: [],
    allRows: false,
    visibleFields: [],
  });
  await expectError(ann.get(`${path}/access?principal=nobody-here`), 404, 'There is no user nobody-here');
  await expectError(bob.get(`${path}/access`), 404);
});

test('a restricted share is explained in full only to a user who may share', async ({ ann, bob, path, euFilter }) => {
  await ann.put(`${path}/shares/bob`, {
    accessLevel: 2,
    datasetFilterId: euFilter,
    restrictFields: true,
    visibleFields: ['id', 'amount'],
  });
  const principal = { id: bob.id, name: 'bob', type: 'user' };
  const permissions = { ...NO_PERMISSIONS, read: true, addVisual: true };
  const access = {
    principal,
    level: 'edit',
    partial: true,
    permissions,
    allRows: false,
    visibleFields: ['id', 'amount'],
  };
  const reason = {
    via: 'share',
    level: 'edit',
    role: null,
    principal,
    datasetFilterId: euFilter,
    visibleFields: ['id', 'amount'],
    message: 'The dataset is shared with bob, limited to the rows of a filter and some of the fields',
  };
  const forOwner = await ann.get(`${path}/access?principal=bob`);
  expect(forOwner.body).toEqual({
    ...access,
    because: [{ ...reason, filter: 'EU' }],
    rowFilter: { region: 'EU' },
    hiddenFields: ['region', 'ordered_on', 'note'],
  });
  const forReader = await bob.get(`${path}/access`);
  expect(forReader.body).toEqual({
    ...access,
    because: [{ ...reason, filter: null }],
    rowFilter: null,
    hiddenFields: null,
  });
  expect((await bob.get(`${path}/permissions`)).body).toEqual(permissions);
  await expectError(bob.get(`${path}/access?principal=ann`), 403, 'You lack the permission dataset:share');
  await ann.delete(`${path}/shares/bob`);
});

test('an unrestricted share lifts the restrictions of another one', async ({
  ann,
  bob,
  admin,
  dataset,
  path,
  euFilter,
}) => {
  await ann.put(`${path}/shares/bob`, {
    accessLevel: 2,
    datasetFilterId: euFilter,
    restrictFields: true,
    visibleFields: ['id', 'amount'],
  });
  const teamId = await createTeam(admin, 'Readers', { bob: 'admin' });
  await ann.put(`${path}/shares/team:${teamId}`, { accessLevel: 1 });
  await expectBody(bob.get(`${path}/access`), 200, {
    level: 'view',
    partial: false,
    permissions: { ...NO_PERMISSIONS, read: true, copy: true },
    because: [
      {
        via: 'share',
        level: 'edit',
        role: null,
        principal: { id: bob.id, name: 'bob', type: 'user' },
        datasetFilterId: euFilter,
        filter: null,
        visibleFields: ['id', 'amount'],
        message: 'The dataset is shared with bob, limited to the rows of a filter and some of the fields',
      },
      {
        via: 'share',
        level: 'view',
        principal: { id: `team:${teamId}`, name: 'Readers', type: 'team' },
        filter: null,
        message: 'The dataset is shared with the team Readers',
      },
    ],
    allRows: true,
    hiddenFields: [],
  });
  await expectBody(ann.get(`${path}/access?principal=team:${teamId}`), 200, {
    principal: { id: `team:${teamId}` },
    level: 'view',
    because: [{ via: 'share' }],
  });
  const result = await ann.data(`{
    dataset(id: "${dataset.id}") {
      access(principal: "bob") {
        level partial allRows because { via level principal { name } } permissions { read copy write }
      }
    }
  }`);
  expect(result.dataset.access).toEqual({
    level: 'VIEW',
    partial: false,
    allRows: true,
    because: [
      { via: 'SHARE', level: 'EDIT', principal: { name: 'bob' } },
      { via: 'SHARE', level: 'VIEW', principal: { name: 'Readers' } },
    ],
    permissions: { read: true, copy: true, write: false },
  });
  await ann.delete(`${path}/shares/team:${teamId}`);
  await ann.delete(`${path}/shares/bob`);
});

test('a role in the team that owns the dataset is explained', async ({ ann, bob, admin, source }) => {
  const teamId = await createTeam(admin, 'Owners', { ann: 'memberPlus', bob: 'member' });
  const { id } = await createOrders(ann, source, { name: 'Team orders', ownerId: `team:${teamId}` });
  await expectBody(bob.get(`/datasets/${id}/access`), 200, {
    level: 'view',
    because: [
      {
        via: 'team',
        level: 'view',
        role: 'member',
        principal: { name: 'Owners' },
        message: 'The team Owners owns the dataset; the role in the team is member',
      },
    ],
  });
  await expectBody(admin.get(`/datasets/${id}/access?principal=ann`), 200, {
    level: 'edit',
    because: [{ via: 'team', level: 'edit', role: 'memberPlus' }],
  });
});

test('rows are queried only through the view of a dataset', () => {
  const sources = readdirSync(new URL('../../src', import.meta.url), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('adapters/') && !name.startsWith('core/'),
  );
  const querying = sources.filter((name) =>
    /\bindex\.(search|aggregate|profile|scan)\(/.test(
      readFileSync(new URL(`../../src/${name}`, import.meta.url), 'utf8'),
    ),
  );
  expect(querying.sort()).toEqual([
    'services/dataset/dataset-aggregate.ts',
    'services/dataset/dataset-data.ts',
    'services/dataset/dataset-export.ts',
    'services/dataset/dataset-rows.ts',
  ]);
});

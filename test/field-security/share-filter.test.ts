import { describe, expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { expectedView, test } from './shared-dataset.ts';

describe('a saved filter that a share uses', () => {
  test('can be changed only by users who may share, and cannot be deleted', async ({ rows, service, admin, bob }) => {
    const dataset = await rows();
    const carol = await service.user(`editor-${dataset.id.slice(-6)}`);
    await dataset.share(carol.id, { accessLevel: 2 });
    const { id } = await carol.creates(`${dataset.path}/filters`, { name: 'Carol’s', criteria: { zone: 'e' } });
    const path = `${dataset.path}/filters/${id}`;
    expect((await admin.put(`${dataset.path}/shares/bob`, { accessLevel: 1, datasetFilterId: id })).status).toBe(200);
    for (const change of [{ criteria: {} }, { criteria: { zone: 'n' } }, { name: 'Other' }])
      await expectError(carol.put(path, change), 403, 'You lack the permission dataset:share');
    await expectError(carol.put(`${path}/owner`, { ownerId: bob.id }), 403);
    expect(
      await carol.gql(
        `mutation { updateSavedFilter(datasetId: "${dataset.id}", id: "${id}", input: { criteria: {} }) { id } }`,
      ),
    ).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    for (const who of [carol, admin]) await expectError(who.delete(path), 409);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('e'));
    expect(await dataset.owner.get(path), 'a user who may share can read a filter that a share uses').toMatchObject({
      status: 200,
      body: { criteria: { zone: 'e' } },
    });
    expect((await admin.put(path, { criteria: { zone: { $in: ['s', 'e'] } } })).status).toBe(200);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('se'));
    await dataset.share('bob', { datasetFilterId: dataset.filters['n'] });
    expect((await carol.put(path, { criteria: { zone: 'n' } })).status).toBe(200);
    expect((await carol.delete(path)).status).toBe(204);
    expect(await dataset.viewOf(bob)).toEqual(expectedView('n'));
  });

  test('is still applied when its owner is deleted or loses access to the dataset', async ({
    rows,
    service,
    team,
    admin,
    bob,
  }) => {
    const dataset = await rows();
    const name = `leaver-${dataset.id.slice(-6)}`;
    const leaver = await service.user(name);
    const owners = await team([name, 'admin']);
    await dataset.share(leaver.id, { accessLevel: 3 });
    await dataset.share(owners, { accessLevel: 1 });
    const own = (await leaver.creates(`${dataset.path}/filters`, { name: 'Own', criteria: { zone: 'e' } }))
      .id as string;
    const teams = (
      await leaver.creates(`${dataset.path}/filters`, { name: 'Team’s', criteria: { zone: 's' }, ownerId: owners })
    ).id as string;
    for (const [datasetFilterId, leave] of [
      [own, () => dataset.owner.delete(`${dataset.path}/shares/${leaver.id}`)],
      [own, () => admin.delete(`/users/${name}`)],
      [teams, () => admin.delete(`/teams/${owners.slice(5)}`)],
    ] as const) {
      expect((await admin.put(`${dataset.path}/shares/bob`, { accessLevel: 1, datasetFilterId })).status).toBe(200);
      expect((await leave()).status).toBeLessThan(300);
      expect(await dataset.viewOf(bob)).toEqual(expectedView(datasetFilterId === own ? 'e' : 's'));
    }
  });

  test('is deleted with its dataset', async ({ rows, bob, service }) => {
    const dataset = await rows();
    await dataset.share('bob', { datasetFilterId: dataset.filters['n'] });
    expect((await dataset.owner.delete(dataset.path)).status).toBe(204);
    await expectError(bob.get(dataset.path), 404);
    expect(
      await service.platform.system.query({
        text: `
          select id from dws.saved_filter where dataset_id = $1
          union all
          select id from dws.share where resource_id = $1`,
        values: [dataset.id],
      }),
    ).toEqual([]);
  });
});

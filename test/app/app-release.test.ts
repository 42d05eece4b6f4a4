import { expect } from 'vitest';
import { createRelease, loadReleaseFiles } from '../../src/services/app/app-release.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { createApp, putFile } from './app-fixture.ts';

const UNKNOWN = '019a0000-0000-7000-8000-000000000000';

test('a release shares files with the app, and has its own once they change', async ({ admin, service }) => {
  const id = await createApp(admin, 'Shared', { 'server/a.js': 'export const get = () => 1', 'data.txt': 'x' });
  const { releaseId } = (await admin.post(`/apps/${id}/_deploy`)).body;
  const fileOf = async (table: string, column: string, row: string) =>
    (
      await runSql(service.databaseUrl, `select file_id from dws.${table} where ${column} = $1 order by path`, [row])
    ).map(({ file_id }) => file_id as string);
  const former = await fileOf('app_file', 'app_id', id);
  expect(former).toHaveLength(2);
  expect(await fileOf('app_release_file', 'release_id', releaseId)).toEqual(former);
  await putFile(admin, id, 'server/a.js', 'export const get = () => 2');
  expect((await admin.delete(`/apps/${id}/files/data.txt`)).status).toBe(204);
  expect(await fileOf('app_release_file', 'release_id', releaseId)).toEqual(former);
  const contents = await Promise.all(former.map((file) => service.platform.files.read(file)));
  expect(contents.map(String)).toEqual(['x', 'export const get = () => 1']);
  const [current] = await fileOf('app_file', 'app_id', id);
  expect((await admin.delete(`/apps/${id}`)).status).toBe(204);
  expect(
    await runSql(service.databaseUrl, 'select from dws.stored_file where id = any($1::uuid[])', [[...former, current]]),
  ).toEqual([]);
  expect(await Promise.all(former.map((file) => service.platform.files.read(file)))).toEqual([undefined, undefined]);
});

test('ten releases stay, with the active one, and their files', async ({ admin, service }) => {
  const id = await createApp(admin, 'Many');
  const ids: string[] = [];
  const files: string[] = [];
  const deploy = async (n: number) => {
    await putFile(admin, id, 'lib/a.js', `export const n = ${n}`);
    const [file] = await runSql(service.databaseUrl, 'select file_id from dws.app_file where app_id = $1', [id]);
    files.push(file!['file_id'] as string);
    ids.push((await admin.post(`/apps/${id}/_deploy`)).body.releaseId);
  };
  for (let n = 0; n < 10; n++) await deploy(n);
  await admin.post(`/apps/${id}/_rollback`, { releaseId: ids[0] });
  await deploy(10);
  await deploy(11);
  const releases = (await admin.get(`/apps/${id}/releases`)).body._embedded['svc:release'];
  expect(releases.map(({ number }: { number: number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(await Promise.all(files.slice(0, 2).map((file) => service.platform.files.read(file)))).toEqual([
    undefined,
    undefined,
  ]);
  expect(String(await service.platform.files.read(files[2]!))).toBe('export const n = 2');
  await expectError(admin.post(`/apps/${id}/_rollback`, { releaseId: ids[0] }), 404, /release of the app/);
});

test('a rollback changes the active release only', async ({ admin, service }) => {
  const id = await createApp(admin, 'Back', { 'server/a.js': 'export const get = () => 1' });
  const first = (await admin.post(`/apps/${id}/_deploy`)).body;
  await putFile(admin, id, 'server/b.js', 'export const get = () => 2');
  const second = (await admin.post(`/apps/${id}/_deploy`)).body;
  expect(second.routes).toHaveLength(2);
  await expectBody(admin.post(`/apps/${id}/_rollback`, { releaseId: first.releaseId }), 200, {
    id: first.releaseId,
    number: 1,
    active: true,
    deployedAt: first.deployedAt,
    deployedBy: admin.id,
  });
  expect((await admin.get(`/apps/${id}`)).body).toMatchObject({ status: 'deployed', deployedAt: second.deployedAt });
  expect((await admin.get(`/apps/${id}/files`)).body.total).toBe(2);
  expect(
    await runSql(service.databaseUrl, 'select number, active from dws.app_release where app_id = $1 order by number', [
      id,
    ]),
  ).toEqual([
    { number: 1, active: true },
    { number: 2, active: false },
  ]);
});

test('a rollback requires a release of the app', async ({ admin }) => {
  const id = await createApp(admin, 'One');
  const { releaseId } = (await admin.post(`/apps/${await createApp(admin, 'Other')}/_deploy`)).body;
  await expectError(
    admin.post(`/apps/${id}/_rollback`, { releaseId }),
    404,
    `There is no release of the app ${releaseId}`,
  );
  await expectError(admin.post(`/apps/${id}/_rollback`, { releaseId: 'x' }), 404, 'There is no release of the app x');
  await expectError(admin.post(`/apps/${id}/_rollback`, {}), 400, /releaseId/);
  await expectError(admin.post(`/apps/${UNKNOWN}/_rollback`, { releaseId }), 404, /app/);
});

test('the releases of a deleted user stay', async ({ admin, service }) => {
  const id = await createApp(admin, 'Left');
  const user = await service.user('cara', { superuser: true });
  await user.post(`/apps/${id}/_deploy`);
  await admin.delete(`/users/${user.id}`);
  expect((await admin.get(`/apps/${id}/releases`)).body._embedded['svc:release']).toMatchObject([
    { number: 1, deployedBy: null },
  ]);
});

test('no release is created of files that were replaced or deleted during the deployment', async ({
  admin,
  service,
}) => {
  const id = await createApp(admin, 'Racing', { 'lib/a.js': 'export {};', 'lib/b.js': 'export {};' });
  const { database, system } = service.platform;
  const [app] = await system.query<{ tenant: string }>({
    text: 'select tenant_id as tenant from dws.app where id = $1',
    values: [id],
  });
  const { tenant } = app!;
  const load = () => loadReleaseFiles((statement) => database.query(tenant, statement), tenant, id);
  const create = (files: Awaited<ReturnType<typeof load>>) =>
    database.transaction(tenant, (tx) =>
      createRelease(tx, id, { files, deployedBy: admin.id, routes: [], webhooks: [] }),
    );
  const before = await load();
  await putFile(admin, id, 'lib/a.js', 'export const a = 1;');
  await expect(create(before)).rejects.toMatchObject({
    status: 409,
    message: 'Files of the app were changed while it was deployed: deploy it again',
  });
  const replaced = await load();
  await admin.delete(`/apps/${id}/files/lib/b.js`);
  await expect(create(replaced)).rejects.toMatchObject({ status: 409 });
  expect((await admin.get(`/apps/${id}/releases`)).body.total).toBe(0);
  await create(await load());
  expect((await admin.get(`/apps/${id}/releases`)).body.total).toBe(1);
});

import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** Creates a user who owns a datasource of the same name. */
async function createOwner(service: Service, name: string): Promise<void> {
  const { id } = await service.user(name);
  await systemQuery(
    service,
    `insert into dws.datasource (id, tenant_id, name, slug, owner_id, type)
    select gen_random_uuid(), tenant_id, $2, $2, 'user:' || id, 'postgres'
    from dws.app_user where id = $1`,
    id,
    name,
  );
}

const ownerOf = async (service: Service, slug: string) =>
  (await systemQuery(service, `select owner_id as owner from dws.datasource where slug = $1`, slug))[0]!['owner'];

describe('deleting a user', () => {
  test('is 409 for the last superuser, whatever else is missing', async ({ stranger }) => {
    const message = 'The last enabled superuser cannot be removed, disabled or demoted';
    for (const query of ['', '?transferTo=stranger', '?transferTo=nobody'])
      await expectError(stranger.delete(`/users/stranger${query}`), 409, message);
    await expectGraphqlError(stranger.gql('mutation { deleteUser(username: "stranger") }'), 'CONFLICT', message);
  });

  test('requires users:delete', async ({ service, ann }) => {
    await service.user('paul');
    await expectError(ann.delete('/users/paul'), 403, 'You lack the permission users:delete');
  });

  test('transfers their resources to the named principal', async ({ service, admin, bob }) => {
    for (const name of ['quinn', 'sam']) await createOwner(service, name);
    await expectError(admin.delete('/users/quinn?transferTo=nobody'), 404, 'There is no user nobody');
    await expectBody(admin.delete('/users/quinn?transferTo=quinn'), 400, { code: 'BAD_USER_INPUT' });
    await expectStatus(admin.delete('/users/quinn?transferTo=bob'), 204);
    expect(await ownerOf(service, 'quinn')).toBe(`user:${bob.id}`);
    const team = await admin.creates('/teams', { name: 'Heirs' });
    await expectStatus(admin.delete(`/users/sam?transferTo=team:${team.id}`), 204);
    expect(await ownerOf(service, 'sam')).toBe(`team:${team.id}`);
    await expectStatus(admin.delete('/users/sam'), 404);
  });

  test('transfers their resources to the caller by default', async ({ service, admin }) => {
    await createOwner(service, 'rosa');
    await expectStatus(admin.delete('/users/ROSA'), 204);
    expect(await ownerOf(service, 'rosa')).toBe(`user:${admin.id}`);
    const second = await service.user('second', { superuser: true });
    await expectBody(second.delete('/users/second'), 400, { code: 'BAD_USER_INPUT' });
    await expectGraphqlError(second.gql('mutation { deleteUser(username: "second") }'), 'BAD_USER_INPUT', /transferTo/);
  });
});

import { expect } from 'vitest';
import { resolveRecipients } from '../../src/services/resource/recipients.ts';
import { test } from '../support/fixture.ts';

/** Recipients that users write, and what is stored. */
const ADDRESSES: [written: string, address: string][] = [
  ['ann@example.org', 'ann@example.org'],
  ['Ann <ann@example.org>', 'ann@example.org'],
  ['Ann<ann@example.org>', 'ann@example.org'],
  ['"Doe, Ann" < ann@example.org > ', 'ann@example.org'],
  ['<ann@example.org>', 'ann@example.org'],
];

test('addresses have no names, principals are canonical', async ({ service, ann }) => {
  const { tenantId } = await service.platform.system
    .query<{ tenantId: string }>({
      text: `select tenant_id as "tenantId" from dws.app_user where id = $1`,
      values: [ann.id],
    })
    .then(([row]) => row!);
  const resolve = (recipients: string[], addresses = true) =>
    service.platform.database.transaction(tenantId, (tx) =>
      resolveRecipients(tx, tenantId, recipients, { path: 'to', addresses }),
    );
  expect(await resolve([...ADDRESSES.map(([written]) => written), 'ann'])).toEqual([
    ...ADDRESSES.map(([, address]) => address),
    `user:${ann.id}`,
  ]);
  for (const written of ['Ann <ann>', 'Ann <>', 'Ann <a@b> <c@d>', 'Ann <ann@example.org', 'a b@c.d'])
    await expect(resolve([written]), written).rejects.toMatchObject({ status: 404 });
  await expect(resolve(['ann', 'A <a@b.example>'], false)).rejects.toMatchObject({
    status: 400,
    message: 'to.1 must be a user or a team: an address has no access to data',
  });
});

import { expect, test } from 'vitest';
import { verifyPassword } from '../../src/services/identity/password.ts';

test('logins from one address do not delay those from another', async () => {
  await verifyPassword(null, 'computes the hash that stands for unknown users', '192.0.2.1');
  let ended = 0;
  const flood = Array.from({ length: 60 }, () =>
    verifyPassword(null, 'a guess', '192.0.2.1').then(() => {
      ended++;
    }),
  );
  await expect(verifyPassword(null, 'a password', '192.0.2.2')).resolves.toBe(false);
  expect(ended).toBeLessThan(30);
  await Promise.all(flood);
});

import { isEmailAddress } from '../../core/account-rules.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { resolvePrincipal } from './resolve-ids.ts';

/** Returns whether a recipient is an e-mail address and not a principal. */
const isAddress = (recipient: string): boolean => !/^(user|team):/.test(recipient) && isEmailAddress(recipient);

/**
 * Returns recipients with canonical principals: `user:<id>`, `team:<id>`. E-mail addresses stay as they are. Throws
 * NOT_FOUND for an unknown principal, BAD_USER_INPUT for an address where only principals may be; `path` is that of the
 * list.
 */
export async function resolveRecipients(
  tx: Transaction,
  tenantId: string,
  recipients: readonly string[],
  { path, addresses }: { path: string; addresses: boolean },
): Promise<string[]> {
  const refused = recipients.findIndex((recipient) => isAddress(recipient) && !addresses);
  if (refused >= 0) throw invalid(`${path}.${refused}`, 'must be a user or a team: an address has no access to data');
  return Promise.all(
    recipients.map(async (recipient) => (isAddress(recipient) ? recipient : resolvePrincipal(tx, tenantId, recipient))),
  );
}

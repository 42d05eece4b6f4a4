import { isEmailAddress } from '../../core/account-rules.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { resolvePrincipal } from './resolve-ids.ts';

/** Returns the e-mail address of a recipient, without the name in `Ann <ann@example.org>`; undefined for a principal. */
function addressOf(recipient: string): string | undefined {
  if (/^(user|team):/.test(recipient)) return undefined;
  const address = /^[^<>]*<([^<>]*)>\s*$/.exec(recipient)?.[1]!.trim() ?? recipient;
  return isEmailAddress(address) ? address : undefined;
}

/**
 * Returns recipients with canonical principals, `user:<id>`, `team:<id>`, and e-mail addresses without names. Throws
 * NOT_FOUND for an unknown principal, BAD_USER_INPUT for an address where only principals may be; `path` is the path of
 * the list.
 */
export async function resolveRecipients(
  tx: Transaction,
  tenantId: string,
  recipients: readonly string[],
  { path, addresses }: { path: string; addresses: boolean },
): Promise<string[]> {
  const refused = recipients.findIndex((recipient) => !addresses && addressOf(recipient) !== undefined);
  if (refused >= 0) throw invalid(`${path}.${refused}`, 'must be a user or a team: an address has no access to data');
  return Promise.all(
    recipients.map(async (recipient) => addressOf(recipient) ?? resolvePrincipal(tx, tenantId, recipient)),
  );
}

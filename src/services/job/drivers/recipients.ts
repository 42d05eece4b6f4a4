import { invalid } from '../../../core/input-checks.ts';
import type { SavedAction } from '../../../core/job-drivers.ts';
import { resolvePrincipal } from '../../resource/resolve-ids.ts';

/** Returns whether a recipient is an e-mail address and not a principal. */
const isAddress = (recipient: string): boolean =>
  !/^(user|team):/.test(recipient) && /^[^\s@]+@[^\s@]+$/.test(recipient);

/**
 * Returns recipients with canonical principals: `user:<id>`, `team:<id>`. E-mail addresses stay as they are. Throws
 * NOT_FOUND for an unknown principal, BAD_USER_INPUT for an address where only principals may be.
 */
export async function resolveRecipients(
  recipients: readonly string[],
  { ctx, tx }: SavedAction,
  { addresses }: { addresses: boolean },
): Promise<string[]> {
  const refused = recipients.findIndex((recipient) => isAddress(recipient) && !addresses);
  if (refused >= 0)
    throw invalid(`data.recipients.${refused}`, 'must be a user or a team: an address has no access to data');
  return Promise.all(
    recipients.map(async (recipient) =>
      isAddress(recipient) ? recipient : resolvePrincipal(tx, ctx.viewer.tenantId, recipient),
    ),
  );
}

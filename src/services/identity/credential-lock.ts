import type { Context } from '../../core/context.ts';
import { unauthenticated } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { isActive } from '../resource/active-user.ts';

const TABLES: Partial<Record<Viewer['authMethod'], string>> = { session: 'session', token: 'api_token' };

/**
 * Locks the credential of the request until the transaction ends, so that what it creates exists before the credential
 * ends or not at all. Returns the current rights of its user. Throws UNAUTHENTICATED if the credential has ended, or its
 * user is no longer active, since the request was authenticated. Call it before other locks.
 */
export async function lockCredential(
  { viewer: { tenantId, userId, credentialId, authMethod } }: Context,
  tx: Transaction,
): Promise<{ superuser: boolean; permissions: readonly string[] }> {
  // Locked before the credential, in the order of those who disable or delete the user: another order would deadlock.
  const [user] = await tx.query<{ superuser: boolean; permissions: string[] }>({
    text: `
      select superuser, permissions from dws.app_user u
      where tenant_id = $1 and id = $2 and ${isActive('u')}
      for key share`,
    values: [tenantId, userId],
  });
  const table = TABLES[authMethod];
  // The lock delays those who end the credential now.
  const credentials = table
    ? await tx.query({
        text: `select id from dws.${table} where tenant_id = $1 and id = $2 for share`,
        values: [tenantId, credentialId],
      })
    : [{}];
  if (!user || credentials.length === 0) throw unauthenticated();
  return user;
}

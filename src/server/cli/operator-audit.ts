import { userInfo } from 'node:os';
import type { Query } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { recordAuditInTransaction } from '../../services/resource/audit.ts';
import { withSystem } from './operator-database.ts';

/** An operator's action, for the audit log of the tenant. */
interface OperatorAction {
  action: string;
  tenant: string;
  kind: 'tenant' | 'user' | 'token';
  /** Slug, username, or id of the token. */
  name: string;
}

/** Runs an operator's change and records its audit event, in one transaction. */
export function withAuditedSystem<T>(
  { action, tenant, kind, name }: OperatorAction,
  work: (system: SystemDatabase) => Promise<T>,
): Promise<T> {
  return withSystem((system) =>
    system.transaction(async (query) => {
      const result = await work({ query, transaction: (within) => within(query) });
      const resourceId = kind === 'token' ? name : await findResource(query, kind, tenant, name);
      const mutation = { action, kind, key: name, resourceId, recorded: false };
      await recordAuditInTransaction(
        query,
        { id: newId(), address: null, channel: 'cli', mutation },
        { tenant: { slug: tenant }, userId: null, username: osAccount() },
      );
      return result;
    }),
  );
}

async function findResource(
  query: Query,
  kind: 'tenant' | 'user',
  tenant: string,
  name: string,
): Promise<string | null> {
  const [found] = await query<{ id: string }>({
    text:
      kind === 'tenant'
        ? `select id from dws.tenant where slug = $1 and $2::text is not null`
        : `select u.id
          from dws.app_user u
          join dws.tenant t on t.id = u.tenant_id
          where t.slug = $1 and lower(u.username) = lower($2)`,
    values: [tenant, name],
  });
  return found?.id ?? null;
}

/** Returns the operator's user name on this machine. A container may have none. */
function osAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
}

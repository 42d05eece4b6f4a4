import { userInfo } from 'node:os';
import { newId } from '../../core/id.ts';
import type { SystemDatabase } from '../../core/platform.ts';
import { findTenant } from '../../services/identity/bootstrap.ts';
import { findUser } from '../../services/identity/operator.ts';
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
export function withAuditedSystem<T>(change: OperatorAction, work: (system: SystemDatabase) => Promise<T>): Promise<T> {
  return withSystem((system) =>
    system.transaction(async (query) => {
      const { action, tenant, kind, name } = change;
      const own: SystemDatabase = { query, transaction: (within) => within(query) };
      const result = await work(own);
      const resourceId = await findResource(own, change);
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

/** Returns the id of the changed resource. */
async function findResource(system: SystemDatabase, { kind, tenant, name }: OperatorAction): Promise<string> {
  if (kind === 'token') return name;
  return kind === 'tenant' ? findTenant(system, name) : (await findUser(system, tenant, name)).id;
}

/** Returns the operator's user name on this machine. A container may have none. */
function osAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
}

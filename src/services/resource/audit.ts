import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { Actor, AuditedRequest, AuditOutcome, Mutation } from '../../core/audit.ts';
import type { PublicContext } from '../../core/context.ts';
import type { Query, Statement } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { RowChange } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** A caller as the log names them. */
export const actorOf = ({ tenantId, userId, username, authMethod, credentialId }: Viewer): Actor => ({
  tenant: { id: tenantId },
  userId,
  username,
  [authMethod === 'token' ? 'tokenId' : 'sessionId']: credentialId,
});

/** The longest word of a caller that the log keeps. */
const MAX_TEXT_CHARACTERS = 255;

/** The statement that writes the event of a mutation. A tenant that there is not has no log. */
export function auditStatement(
  { id, address, channel }: Omit<AuditedRequest, 'mutation'>,
  mutation: Mutation,
  actor: Actor,
  outcome: AuditOutcome,
): Statement {
  const { tenant, userId, username, tokenId = null, sessionId = null } = actor;
  const resourceId = mutation.resourceId ?? mutation.key?.slice(0, MAX_TEXT_CHARACTERS) ?? null;
  return {
    text: `insert into dws.audit_event (id, tenant_id, user_id, username, action, kind, resource_id, outcome, channel, address, token_id, session_id, request_id, created_at)
      select $1, t.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp() from dws.tenant t where t.${'id' in tenant ? 'id' : 'slug'} = $2`,
    values: [
      newId(),
      'id' in tenant ? tenant.id : tenant.slug,
      userId,
      username.slice(0, MAX_TEXT_CHARACTERS),
      mutation.action,
      mutation.kind,
      resourceId,
      outcome,
      channel,
      address,
      tokenId,
      sessionId,
      id,
    ],
  };
}

/** Values of the statement: whatever is carried along has the next place. */
export const AUDIT_VALUES = 13;

/** Takes the event of a mutation into the transaction of the change that it makes past the unit of work. */
export async function recordAuditInTransaction(query: Query, request: AuditedRequest, actor: Actor): Promise<void> {
  const { mutation } = request;
  if (!mutation || mutation.recorded) return;
  mutation.actor = actor;
  mutation.recorded = true;
  await query(auditStatement(request, mutation, actor, 'succeeded'));
}

/** Writes the event of a mutation that had no transaction to take it along, or was refused. Nobody knows the tenant of a caller without credentials. */
export async function recordAuditAfterwards(
  { platform, request, viewer }: PublicContext,
  outcome: AuditOutcome,
): Promise<void> {
  const { mutation } = request;
  const actor = mutation?.actor ?? (viewer && actorOf(viewer));
  if (!mutation || mutation.recorded || !actor) return;
  mutation.recorded = true;
  const statement = auditStatement(request, mutation, actor, outcome);
  await ('id' in actor.tenant ? platform.database.query(actor.tenant.id, statement) : platform.system.query(statement));
}

/** The id of what a mutation that named no resource has made: the first new row of its kind. */
export function createdTarget({ kind, key }: Mutation, changes: readonly RowChange[]): string | null {
  if (kind === null || key !== null) return null;
  const made = changes.find(({ type, row }) => type === 'create' && kindOf(row) === kind);
  return made ? (made.row as { id: string }).id : null;
}

const kindOf = ({ constructor }: object): string => {
  const owned = OWNED_KINDS.find(({ entity }) => entity === constructor);
  return (
    owned?.kind ??
    (constructor.name === 'ApiToken' ? 'token' : constructor.name[0]!.toLowerCase() + constructor.name.slice(1))
  );
};

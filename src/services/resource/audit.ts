import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { AuditActor, AuditedMutation, AuditedRequest, AuditOutcome } from '../../core/audit.ts';
import { uncapitalize } from '../../core/capitalize.ts';
import type { PublicContext } from '../../core/context.ts';
import type { Query, Statement } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { RowChange } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** Returns a viewer as the audit log records them. */
export const actorOf = ({ tenantId, userId, username, authMethod, credentialId }: Viewer): AuditActor => ({
  tenant: { id: tenantId },
  userId,
  username,
  ...(authMethod === 'token' && { tokenId: credentialId }),
  ...(authMethod === 'session' && { sessionId: credentialId }),
});

/** Characters of a name or key from the caller. Longer ones are cut. */
const MAX_TEXT_CHARACTERS = 255;

/**
 * Returns the statement that inserts the audit event of a mutation, a download or a read of rows. Its first value is the id of the event.
 * It inserts nothing if no tenant has the slug.
 */
export function buildAuditStatement(
  { id, address, channel }: Omit<AuditedRequest, 'mutation'>,
  mutation: AuditedMutation,
  actor: AuditActor,
  outcome: AuditOutcome,
): Statement {
  const { tenant, userId, username, tokenId = null, sessionId = null } = actor;
  const resourceId = mutation.resourceId ?? mutation.key?.slice(0, MAX_TEXT_CHARACTERS) ?? null;
  const [tenantId, source] = 'id' in tenant ? ['$2', ''] : ['t.id', 'from dws.tenant t where t.slug = $2'];
  return {
    text: `
      insert into dws.audit_event
        (id, tenant_id, user_id, username, action, kind, resource_id,
         outcome, channel, address, token_id, session_id, request_id, parameters, rows, bytes, created_at)
      select $1, ${tenantId}, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, clock_timestamp() ${source}`,
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
      mutation.parameters ? JSON.stringify(mutation.parameters) : null,
      mutation.rows ?? null,
      mutation.bytes ?? null,
    ],
  };
}

/** Inserts the audit event of a mutation in the transaction of a change that does not use the unit of work. */
export async function recordAuditInTransaction(
  query: Query,
  request: AuditedRequest,
  actor: AuditActor,
): Promise<void> {
  const { mutation } = request;
  if (!mutation || mutation.recorded) return;
  mutation.actor = actor;
  mutation.recorded = true;
  await query(buildAuditStatement(request, mutation, actor, 'succeeded'));
}

/**
 * Inserts the audit event of a mutation that was refused or had no transaction. Does nothing for a caller without
 * credentials, whose tenant is unknown.
 */
export async function recordAuditAfterwards(
  { platform, request, viewer }: PublicContext,
  outcome: AuditOutcome,
): Promise<void> {
  const { mutation } = request;
  const actor = mutation?.actor ?? (viewer && actorOf(viewer));
  if (!mutation || mutation.recorded || !actor) return;
  mutation.recorded = true;
  const statement = buildAuditStatement(request, mutation, actor, outcome);
  await ('id' in actor.tenant ? platform.database.query(actor.tenant.id, statement) : platform.system.query(statement));
}

/** Returns the id of the resource that a mutation without a key created: the first new row of its kind. */
export function findCreatedId({ kind, key }: AuditedMutation, changes: readonly RowChange[]): string | null {
  if (kind === null || key !== null) return null;
  const created = changes.find(({ type, row }) => type === 'create' && kindOf(row) === kind);
  return created ? (created.row as { id: string }).id : null;
}

/** Kinds of rows whose names in the audit log differ from the names of their classes. */
const OWN_KINDS: Readonly<Record<string, string>> = { ApiToken: 'token' };

const kindOf = ({ constructor }: object): string => {
  const owned = OWNED_KINDS.find(({ entity }) => entity === constructor);
  return owned?.kind ?? OWN_KINDS[constructor.name] ?? uncapitalize(constructor.name);
};

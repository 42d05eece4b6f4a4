import type { Context } from '../../core/context.ts';
import { tooLarge } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { invalid } from '../../core/input-checks.ts';
import type { SchemaChange } from '../../core/schema-changes.ts';

const GATE = FairGate.shared({ places: 2, maxWaiting: 100, taskNoun: 'checks of schemas' });

/** Maximum size of an SDL in UTF-8. */
const MAX_SCHEMA_BYTES = 2 << 20;

/** The requests of a client that a change may affect. */
export interface AffectedClient {
  name: string | null;
  version: string | null;
  requests: number;
  firstSeenAt: Date;
  lastSeenAt: Date;
}

/** A change of the schema and who used the changed part. `clients` is null for callers who may not see their names. */
export interface CheckedChange extends Omit<SchemaChange, 'affected'> {
  isUsed: boolean;
  requests: number;
  lastSeenAt: Date | null;
  clients: AffectedClient[] | null;
}

/**
 * Compares an SDL with the schema of the service. Returns each change that may affect clients with the clients that used
 * the changed part in the last 90 days. Throws BAD_USER_INPUT for an invalid schema, and like `FairGate`.
 */
export async function checkSchema(ctx: Context, schema: string): Promise<CheckedChange[]> {
  if (Buffer.byteLength(schema) > MAX_SCHEMA_BYTES) throw tooLarge('schema must have at most 2 MiB');
  const result = await GATE.run(ctx.viewer, ctx.request.signal, () => ctx.platform.schemas!.compare(schema));
  if ('invalid' in result) throw invalid('schema', `is not valid: ${result.invalid}`);
  const usage = await findAffected(ctx, result.changes);
  return result.changes.map(({ affected: _affected, ...change }, index) => {
    const clients = usage.get(index) ?? [];
    return {
      ...change,
      isUsed: clients.length > 0,
      requests: clients.reduce((sum, { requests }) => sum + requests, 0),
      lastSeenAt: clients.reduce<Date | null>((last, { lastSeenAt: at }) => (last && last > at ? last : at), null),
      clients: ctx.viewer.superuser ? clients : null,
    };
  });
}

/** Returns the clients that each change affects, by its index. An operation counts once for a change. */
async function findAffected(
  { query, viewer }: Context,
  changes: readonly SchemaChange[],
): Promise<Map<number, AffectedClient[]>> {
  const rows = await query<AffectedClient & { index: number } & Record<string, unknown>>({
    text: `
      select c.index, nullif(u.client, '') as name, nullif(u.version, '') as version,
        sum(u.requests)::float8 as requests, min(u.first_at) as "firstSeenAt", max(u.last_at) as "lastSeenAt"
      from (
        select (e.number - 1)::int as index, array(select jsonb_array_elements_text(e.affected)) as affected
        from jsonb_array_elements($2::jsonb) with ordinality as e(affected, number)
      ) c
      join dws.field_usage_document d on d.tenant_id = $1 and d.coordinates && c.affected
      join dws.field_usage u on u.tenant_id = $1 and u.document = d.document and u.operation = d.operation
      group by c.index, u.client, u.version
      order by c.index, u.client, u.version`,
    values: [viewer.tenantId, JSON.stringify(changes.map(({ affected }) => affected))],
  });
  const found = new Map<number, AffectedClient[]>();
  for (const { index, ...client } of rows) found.set(index, [...(found.get(index) ?? []), client]);
  return found;
}

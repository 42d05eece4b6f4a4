import { AuditEvent } from '../../../entities/audit-event.ts';
import type { Context } from '../../core/context.ts';
import type { ExportFormat } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';
import { isUuid } from '../../core/id.ts';
import { NO_ROWS } from '../../core/read/condition.ts';
import type { ListArguments } from '../../core/read/list-arguments.ts';
import type { ListFilter } from '../../core/read/model.ts';
import type { ReadRow } from '../../core/read/reader.ts';
import { fileOf, type ExportChunk } from './export-file.ts';

/** Which events are wanted; absent ones do not restrict. */
export interface AuditFilter {
  userId?: string;
  action?: string;
  kind?: string;
  resourceId?: string;
  outcome?: string;
  channel?: string;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
}

const is =
  (column: string): ListFilter =>
  (value) =>
    String(value).includes('\0') ? NO_ROWS : { sql: `${column} = ?`, params: [value] };

/** The conditions of the filter's words. */
export const AUDIT_FILTERS: Record<keyof AuditFilter, ListFilter> = {
  userId: (value) => (isUuid(String(value)) ? { sql: 'user_id = ?', params: [value] } : NO_ROWS),
  action: is('action'),
  kind: is('kind'),
  resourceId: is('resource_id'),
  outcome: is('outcome'),
  channel: is('channel'),
  from: (value) => ({ sql: 'created_at >= ?', params: [value] }),
  to: (value) => ({ sql: 'created_at < ?', params: [value] }),
};

/** The columns of an export, in their order. */
const COLUMNS = [
  'createdAt',
  'id',
  'userId',
  'username',
  'action',
  'kind',
  'resourceId',
  'outcome',
  'channel',
  'address',
  'tokenId',
  'sessionId',
  'requestId',
] as const;

const FIELDS: Field[] = COLUMNS.map((name) => ({
  name,
  label: name,
  type: name === 'createdAt' ? 'datetime' : 'string',
}));

/** Events that an export reads at once. */
const BATCH = 1000;

/** All events that match, the latest first, as a file in pieces. Each piece is read when the consumer asks for it, so that a long log takes no memory. */
export const exported = (
  ctx: Context,
  format: ExportFormat,
  filter: AuditFilter,
): AsyncGenerator<ExportChunk, void, undefined> =>
  fileOf(format, 'audit', FIELDS, (signal) => batches(ctx, filter, signal));

async function* batches(
  ctx: Context,
  filter: AuditFilter,
  signal: AbortSignal,
): AsyncGenerator<Record<string, unknown>[]> {
  for (let last: string | undefined, count = BATCH; count === BATCH && !signal.aborted;) {
    ctx.request.signal.throwIfAborted();
    const events: ReadRow<AuditEvent>[] = await ctx.read.list(
      AuditEvent,
      COLUMNS,
      last === undefined ? undefined : before(last),
      { ...filter, limit: BATCH } as ListArguments,
    );
    yield events.map((event) => Object.fromEntries(COLUMNS.map((column) => [column, event[column] ?? null])));
    last = events.at(-1)?.id;
    count = events.length;
  }
}

/** The events behind one that was read, in the order of the log. */
const before = (id: string) => ({
  sql: '(r.created_at, r.id) < (select e.created_at, e.id from dws.audit_event e where e.tenant_id = r.tenant_id and e.id = ?)',
  params: [id],
});

import type { AuditFilter } from '../../../entities/audit-event-input.ts';
import { AuditEvent } from '../../../entities/audit-event.ts';
import type { Context } from '../../core/context.ts';
import type { ExportFormat } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';
import { isUuid } from '../../core/id.ts';
import { NO_ROWS } from '../../core/read/condition.ts';
import type { ListArguments } from '../../core/read/list-arguments.ts';
import type { ListFilter } from '../../core/read/model.ts';
import type { ReadRow } from '../../core/read/reader.ts';
import { exportFile, type ExportChunk } from './export-file.ts';

const equals =
  (column: string): ListFilter =>
  (value) =>
    String(value).includes('\0') ? NO_ROWS : { sql: `${column} = ?`, params: [value] };

/** SQL conditions of the filters. */
export const AUDIT_FILTERS: Record<keyof AuditFilter, ListFilter> = {
  userId: (value) => (isUuid(String(value)) ? { sql: 'user_id = ?', params: [value] } : NO_ROWS),
  action: equals('action'),
  kind: equals('kind'),
  resourceId: equals('resource_id'),
  outcome: equals('outcome'),
  channel: equals('channel'),
  from: (value) => ({ sql: 'created_at >= ?', params: [value] }),
  to: (value) => ({ sql: 'created_at < ?', params: [value] }),
};

/** Columns of an export, in order. */
const EXPORT_COLUMNS = [
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
  'parameters',
  'rows',
  'bytes',
] as const;

const EXPORT_FIELDS: Field[] = EXPORT_COLUMNS.map((name) => ({
  name,
  label: name,
  type: name === 'createdAt' ? 'datetime' : name === 'rows' || name === 'bytes' ? 'integer' : 'string',
}));

/** Events that an export reads with one statement. */
const EXPORT_BATCH_EVENTS = 1000;

/**
 * Exports all matching events, latest first, as the chunks of a file. Reads each batch when the consumer requests it,
 * so that memory does not grow with the log.
 */
export const exportAuditLog = (
  ctx: Context,
  format: ExportFormat,
  filter: AuditFilter,
): AsyncGenerator<ExportChunk, void, undefined> =>
  exportFile(format, { filename: 'audit', title: 'Audit' }, EXPORT_FIELDS, (signal) =>
    readBatches(ctx, filter, signal),
  );

async function* readBatches(
  ctx: Context,
  filter: AuditFilter,
  signal: AbortSignal,
): AsyncGenerator<Record<string, unknown>[]> {
  for (let last: string | undefined, count = EXPORT_BATCH_EVENTS; count === EXPORT_BATCH_EVENTS && !signal.aborted;) {
    ctx.request.signal.throwIfAborted();
    const events: ReadRow<AuditEvent>[] = await ctx.read.list(
      AuditEvent,
      EXPORT_COLUMNS,
      last === undefined ? undefined : olderThan(last),
      { ...filter, limit: EXPORT_BATCH_EVENTS } as ListArguments,
    );
    yield events.map((event) => ({
      ...Object.fromEntries(EXPORT_COLUMNS.map((column) => [column, event[column] ?? null])),
      parameters: event.parameters?.join(' ') ?? null,
    }));
    last = events.at(-1)?.id;
    count = events.length;
  }
}

/** Returns the condition of the events that follow the given one in the order of the log. */
const olderThan = (id: string) => ({
  sql:
    '(r.created_at, r.id) < ' +
    '(select e.created_at, e.id from dws.audit_event e where e.tenant_id = r.tenant_id and e.id = ?)',
  params: [id],
});

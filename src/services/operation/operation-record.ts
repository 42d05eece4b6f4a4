import type { Operation } from '../../../entities/operation.ts';
import type { Query } from '../../core/database.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Viewer } from '../../core/viewer.ts';

/** The columns of an operation that its caller may see. `sequence` counts its changes. */
export type OperationRecord = Pick<
  Operation,
  | 'id'
  | 'version'
  | 'progress'
  | 'operation'
  | 'resourceKind'
  | 'resourceId'
  | 'status'
  | 'percent'
  | 'current'
  | 'total'
  | 'unit'
  | 'message'
  | 'startedAt'
  | 'finishedAt'
  | 'result'
  | 'error'
  | 'sequence'
  | 'createdAt'
  | 'updatedAt'
>;

const RECORD_COLUMNS = `id, version, progress, operation, resource_kind as "resourceKind",
  resource_id as "resourceId", status, percent, current, total, unit, message, started_at as "startedAt",
  finished_at as "finishedAt", result, error, sequence, created_at as "createdAt", updated_at as "updatedAt"`;

const MAX_ALIAS_CHARACTERS = 255;

/**
 * Returns the caller's own name for an operation as text, null without one. Throws BAD_USER_INPUT for an empty or too
 * long name.
 */
export function parseProgressAlias(progress: string | number | null | undefined): string | null {
  if (progress === null || progress === undefined) return null;
  const alias = typeof progress === 'string' || Number.isFinite(progress) ? String(progress) : '';
  if (alias.trim() === '' || alias.length > MAX_ALIAS_CHARACTERS)
    throw invalid('progress', `must be a text of 1 to ${MAX_ALIAS_CHARACTERS} characters or a number`);
  return alias;
}

/**
 * Reads an operation of the caller by its id or by the caller's own name for it: the unfinished one, else the latest.
 * Throws NOT_FOUND for operations of other users.
 */
export async function readRecord(
  query: Query,
  viewer: Pick<Viewer, 'tenantId' | 'userId'>,
  idOrAlias: string,
): Promise<OperationRecord> {
  const [record] = await query<OperationRecord & Record<string, unknown>>({
    text: `select ${RECORD_COLUMNS}
      from dws.operation
      where tenant_id = $1 and user_id = $2 and (id = $3 or progress = $4)
      order by id = $3 desc nulls last, finished_at is null desc, created_at desc, id desc
      limit 1`,
    values: [viewer.tenantId, viewer.userId, isUuid(idOrAlias) ? idOrAlias : null, idOrAlias],
  });
  if (!record) throw notFound({ what: 'operation', id: idOrAlias });
  return record;
}

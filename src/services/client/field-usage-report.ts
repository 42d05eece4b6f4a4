import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { DEFAULT_LIMIT } from '../../core/read/list-arguments.ts';
import { FIELD_USAGE_DAYS } from './field-usage.ts';

/** The requests of a client for a document that uses a coordinate. */
export interface FieldUsageRow extends Record<string, unknown> {
  coordinate: string;
  client: string | null;
  clientVersion: string | null;
  document: string;
  operationName: string | null;
  requests: number;
  firstSeenAt: Date;
  lastSeenAt: Date;
}

/** Filters and page of the usage of fields. Absent filters do not restrict. */
export interface FieldUsageArguments {
  coordinate?: string;
  client?: string;
  document?: string;
  from?: Date;
  to?: Date;
  limit?: number;
  start?: number;
}

/** Returns a page of the usage of coordinates, by coordinate, client, version and document. */
export async function findFieldUsage(
  { query, viewer }: Context,
  { coordinate, client, document, from, to, limit = DEFAULT_LIMIT, start = 0 }: FieldUsageArguments,
) {
  const rows = await query<FieldUsageRow & { total: number }>({
    text: `
      select coordinate, nullif(u.client, '') as client, nullif(u.version, '') as "clientVersion", u.document,
        nullif(u.operation, '') as "operationName", sum(u.requests)::float8 as requests, min(u.first_at) as "firstSeenAt",
        max(u.last_at) as "lastSeenAt", (count(*) over ())::int as total
      from dws.field_usage u
      join dws.field_usage_document d
        on d.tenant_id = $1 and d.document = u.document and d.operation = u.operation
      cross join unnest(d.coordinates) coordinate
      where u.tenant_id = $1
        and ($2::text is null or d.coordinates @> array[$2::text] and coordinate = $2)
        and ($3::text is null or u.client = $3)
        and ($4::text is null or u.document = $4)
        and ($5::timestamptz is null or u.day >= ($5::timestamptz at time zone 'UTC')::date)
        and ($6::timestamptz is null or u.day < ($6::timestamptz at time zone 'UTC')::date)
      group by coordinate, u.client, u.version, u.document, u.operation
      order by coordinate, u.client, u.version, u.document, u.operation
      limit $7 offset $8`,
    values: [
      viewer.tenantId,
      coordinate ?? null,
      client ?? null,
      document ?? null,
      from ?? null,
      to ?? null,
      limit,
      start,
    ],
  });
  const items = rows.map(({ total: _total, ...row }) => row);
  const total = rows[0]?.total ?? (start > 0 ? start : 0);
  return { items, start, count: items.length, total, hasNextPage: start + items.length < total };
}

/** Deletes usage past its retention, and the coordinates of operations that have none left. */
export async function sweepFieldUsage(query: Query): Promise<void> {
  await query({
    text: `delete from dws.field_usage where day < (now() at time zone 'UTC')::date - ${FIELD_USAGE_DAYS}`,
  });
  await query({
    text: `
      delete from dws.field_usage_document d
      where not exists (
        select from dws.field_usage u
        where u.tenant_id = d.tenant_id and u.document = d.document and u.operation = d.operation
      )`,
  });
}

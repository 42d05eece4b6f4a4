import type { AppLogLevel } from '../../../entities/app-log.ts';
import type { EndedRun } from '../../core/app-run.ts';
import { newId } from '../../core/id.ts';
import type { SecretBox, Transaction } from '../../core/platform.ts';
import { runLines } from './app-log-lines.ts';
import { storedError, storedPath, storedText } from './app-record-text.ts';
import { sealRequest } from './webhook-call-request.ts';

/** The call of a webhook as it is stored. */
interface StoredCall {
  id: string;
  method: string;
  path: string;
  status: number;
  replayOf: string | null;
  /** The encrypted request; null if it is too large. */
  request: string | null;
}

/** A run as it is stored. */
export interface RunRecord {
  /** Id of the run, in the ledger. */
  id: string;
  appId: string;
  at: Date;
  route: string | null;
  requestId: string;
  payerId: string;
  durationMs: number;
  computeMs: number;
  memoryBytes: number;
  error: string | null;
  lines: readonly { level: AppLogLevel; message: string }[];
  call: StoredCall | null;
  /** Approximate number of bytes that a transaction sends for it. */
  bytes: number;
}

/** Approximate number of bytes of the other columns of a row. */
const LINE_BYTES = 300;

/** The lowest status of a call that counts as an error. */
const FIRST_ERROR_STATUS = 400;

/** Rounds milliseconds. */
const toMicroseconds = (ms: number): number => Math.max(0, Math.round(ms * 1000) / 1000);

/** Returns the stored form of a run that ends now. */
export function toRecord(secrets: SecretBox, run: EndedRun): RunRecord {
  const { call } = run;
  const lines = runLines(run);
  const request = call?.request ? sealRequest(secrets, call.request) : null;
  const path = storedPath(call?.path ?? '');
  const error = run.error === null ? null : storedError(run.error);
  const textLength = path.length + (error?.length ?? 0) + (request?.length ?? 0);
  return {
    id: newId(),
    appId: run.app.id,
    at: new Date(),
    route: run.route === null ? null : storedText(run.route),
    requestId: storedText(run.requestId),
    payerId: run.payerId,
    durationMs: toMicroseconds(run.durationMs),
    computeMs: toMicroseconds(run.computeMs ?? run.durationMs),
    memoryBytes: Math.max(0, Math.round(run.memoryBytes)),
    error,
    lines,
    call: call
      ? {
          id: call.id,
          method: storedText(call.method),
          path,
          status: call.status,
          replayOf: call.replayOf,
          request,
        }
      : null,
    bytes: textLength + lines.reduce((sum, { message }) => sum + message.length + LINE_BYTES, LINE_BYTES),
  };
}

/** Returns a record of an app whose storage is exhausted: that it ran and its cost, without log and request. */
export const withoutContent = (record: RunRecord): RunRecord => ({
  ...record,
  lines: [],
  call: record.call && { ...record.call, request: null },
});

/** Locks apps against deletion, in one order. Those that were deleted are missing. */
const LIVE_APPS = `live as materialized (
  select id from dws.app where tenant_id = $1 and id = any($2::uuid[]) order by id for key share
)`;

const INSERT_CALLS = `
  with ${LIVE_APPS}
  insert into dws.webhook_call (tenant_id, app_id, id, at, method, path, route, status, duration, peak_memory, error,
    request_id, replay_of_id, request)
  select $1, c.*
  from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::int[], $9::float8[],
    $10::bigint[], $11::text[], $12::text[], $13::uuid[], $14::text[]) c (app_id)
  where c.app_id in (select id from live)`;

const COUNT_CALLS = `
  with ${LIVE_APPS}
  insert into dws.webhook_day as d (tenant_id, app_id, day, method, route, calls, duration, errors)
  select $1, c.app_id, (c.at at time zone 'UTC')::date, c.method, c.route, count(*), sum(c.duration),
    count(*) filter (where c.status >= ${FIRST_ERROR_STATUS})
  from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::int[], $7::float8[])
    c (app_id, at, method, route, status, duration)
  where c.app_id in (select id from live) and c.route is not null
  group by 2, 3, 4, 5
  order by 2, 3, 4, 5
  on conflict (app_id, day, method, route) do update
  set calls = d.calls + excluded.calls, duration = d.duration + excluded.duration, errors = d.errors + excluded.errors`;

const INSERT_LINES = `
  with ${LIVE_APPS}
  insert into dws.app_log (tenant_id, app_id, id, at, level, message, route, request_id)
  select $1, l.*
  from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[]) l (app_id)
  where l.app_id in (select id from live)`;

/** Inserts the calls and lines of runs of apps of a tenant that still exist, and counts the calls by day. */
export function insertRecords(tx: Pick<Transaction, 'execute'>, tenantId: string, records: readonly RunRecord[]): void {
  const calls = records.flatMap((record) => (record.call ? [{ ...record, ...record.call }] : []));
  if (calls.length > 0) {
    const column = <K extends keyof (typeof calls)[number]>(key: K) => calls.map((call) => call[key]);
    const [apps, times] = [column('appId'), calls.map(({ at }) => at.toISOString())];
    const [methods, routes] = [column('method'), column('route')];
    const [statuses, durations] = [column('status'), column('durationMs')];
    const details = [
      column('memoryBytes'),
      column('error'),
      column('requestId'),
      column('replayOf'),
      column('request'),
    ];
    const ids = column('id');
    tx.execute({
      text: INSERT_CALLS,
      values: [
        tenantId,
        apps,
        ids,
        times,
        methods,
        column('path'),
        routes,
        statuses,
        durations.map(Math.round),
        ...details,
      ],
    });
    tx.execute({ text: COUNT_CALLS, values: [tenantId, apps, times, methods, routes, statuses, durations] });
  }
  const lines = records.flatMap(({ lines: own, ...record }) => own.map((line) => ({ ...record, ...line })));
  if (lines.length > 0)
    tx.execute({
      text: INSERT_LINES,
      values: [
        tenantId,
        lines.map(({ appId }) => appId),
        lines.map(() => newId()),
        lines.map(({ at }) => at.toISOString()),
        lines.map(({ level }) => level),
        lines.map(({ message }) => message),
        lines.map(({ route }) => route),
        lines.map(({ requestId }) => requestId),
      ],
    });
}

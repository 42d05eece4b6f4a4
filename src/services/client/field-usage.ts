import { hash } from 'node:crypto';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { coordinatesOf } from './coordinates.ts';

/** An operation of a parsed document. */
interface UsedOperation {
  document: string;
  operation: string;
  coordinates: string[];
}

/** The requests for an operation since the last write. */
interface PendingUsage extends UsedOperation {
  client: string;
  version: string;
  requests: number;
  firstAt: Date;
  lastAt: Date;
}

/** Name and version of the client of a request, from its headers. */
export interface ClientNames {
  name?: string | undefined;
  version?: string | undefined;
}

const WRITE_INTERVAL_MS = 60_000;
const MAX_NAME_CHARACTERS = 100;
/** Bounds of one tenant between two writes: entries, and their coordinates. */
const MAX_PENDING = 2000;
const MAX_PENDING_COORDINATES = 200_000;
/** Number of tenants between two writes. */
const MAX_PENDING_TENANTS = 500;
/** Bounds of a tenant: operations with stored coordinates, and rows of one day. */
const MAX_OPERATIONS = 10_000;
const MAX_ROWS_OF_DAY = 20_000;

/** Days that usage is stored. */
export const FIELD_USAGE_DAYS = 90;

interface PendingTenant {
  entries: Map<string, PendingUsage>;
  coordinates: number;
}

/**
 * Counts the requests for operations in memory and writes them every minute. The coordinates of an operation are computed
 * once for each parsed document. See docs/contract/clients.md#field-usage.
 */
export class FieldUsageCounter {
  readonly #platform: Pick<Platform, 'database' | 'log'>;
  readonly #schema: GraphQLSchema;
  readonly #operations = new WeakMap<OperationDefinitionNode, UsedOperation>();
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, PendingTenant>();
  #writing: Promise<void> = Promise.resolve();

  constructor(platform: Pick<Platform, 'database' | 'log'>, schema: GraphQLSchema) {
    this.#platform = platform;
    this.#schema = schema;
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  /** Counts a request for an operation of a valid document. */
  count(document: DocumentNode, operation: OperationDefinitionNode, viewer: Viewer, names: ClientNames): void {
    let used = this.#operations.get(operation);
    if (!used) this.#operations.set(operation, (used = this.#use(document, operation)));
    const client = (viewer.authMethod === 'token' && viewer.client) || printable(names.name);
    const version = printable(names.version);
    const tenant = this.#tenantOf(viewer.tenantId);
    if (!tenant) return;
    const key = `${client}\n${version}\n${used.document}\n${used.operation}`;
    const entry = tenant.entries.get(key);
    const now = new Date();
    if (entry) {
      entry.requests += 1;
      entry.lastAt = now;
    } else if (
      tenant.entries.size < MAX_PENDING &&
      tenant.coordinates + used.coordinates.length <= MAX_PENDING_COORDINATES
    ) {
      tenant.coordinates += used.coordinates.length;
      tenant.entries.set(key, { ...used, client, version, requests: 1, firstAt: now, lastAt: now });
    }
  }

  /** Writes what was counted. Failures are logged: the counts of that minute are lost. */
  write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    this.#writing = this.#writing.then(async () => {
      for (const [tenantId, { entries }] of pending)
        await this.#writeTenant(tenantId, [...entries.values()]).catch((err: unknown) =>
          this.#platform.log.warn({ err, tenantId }, 'Writing the usage of fields failed'),
        );
    });
    return this.#writing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  #use(document: DocumentNode, operation: OperationDefinitionNode): UsedOperation {
    return {
      document: hash('sha256', document.loc!.source.body),
      operation: operation.name?.value ?? '',
      coordinates: coordinatesOf(this.#schema, document, operation),
    };
  }

  #tenantOf(tenantId: string): PendingTenant | undefined {
    let tenant = this.#pending.get(tenantId);
    if (!tenant && this.#pending.size < MAX_PENDING_TENANTS)
      this.#pending.set(tenantId, (tenant = { entries: new Map(), coordinates: 0 }));
    return tenant;
  }

  /** A day is of the server's UTC, so that all processes agree. */
  #writeTenant(tenantId: string, entries: readonly PendingUsage[]): Promise<void> {
    const values = [tenantId, JSON.stringify(entries)];
    const incoming = `
      incoming as (
        select * from jsonb_to_recordset($2::jsonb) as i(client text, version text, document text, operation text,
          requests bigint, "firstAt" timestamptz, "lastAt" timestamptz, coordinates jsonb)
      )`;
    return this.#platform.database.transaction(tenantId, async (tx) => {
      await tx.query({
        text: `
          with ${incoming},
          operations as (
            select distinct on (document, operation) document, operation,
              array(select jsonb_array_elements_text(coordinates)) as coordinates
            from incoming
          ),
          room as (select ${MAX_OPERATIONS} - count(*) as left_over from dws.field_usage_document where tenant_id = $1)
          insert into dws.field_usage_document as d (tenant_id, document, operation, coordinates)
          select $1, o.document, o.operation, o.coordinates
          from (
            select o.*, k.document is not null as known, row_number() over (partition by k.document is null) as number
            from operations o
            left join dws.field_usage_document k
              on k.tenant_id = $1 and k.document = o.document and k.operation = o.operation
          ) o, room
          where o.known or o.number <= room.left_over
          order by o.document, o.operation
          on conflict (tenant_id, document, operation) do update set coordinates = excluded.coordinates
          where d.coordinates is distinct from excluded.coordinates`,
        values,
      });
      await tx.query({
        text: `
          with ${incoming},
          counted as (
            select i.*, (i."lastAt" at time zone 'UTC')::date as day
            from incoming i
            join dws.field_usage_document d
              on d.tenant_id = $1 and d.document = i.document and d.operation = i.operation
          ),
          room as (
            select ${MAX_ROWS_OF_DAY} - count(*) as left_over from dws.field_usage
            where tenant_id = $1 and day = (now() at time zone 'UTC')::date
          )
          insert into dws.field_usage as u
            (tenant_id, day, client, version, document, operation, requests, first_at, last_at)
          select $1, c.day, c.client, c.version, c.document, c.operation, c.requests, c."firstAt", c."lastAt"
          from (
            select c.*, k.document is not null as known, row_number() over (partition by k.document is null) as number
            from counted c
            left join dws.field_usage k
              on k.tenant_id = $1 and k.day = c.day and k.client = c.client and k.version = c.version
                and k.document = c.document and k.operation = c.operation
          ) c, room
          where c.known or c.number <= room.left_over
          order by c.document, c.operation, c.day, c.client, c.version
          on conflict (tenant_id, document, operation, day, client, version) do update set
            requests = u.requests + excluded.requests,
            first_at = least(u.first_at, excluded.first_at),
            last_at = greatest(u.last_at, excluded.last_at)`,
        values,
      });
    });
  }
}

/** Returns a name of a header without what is not printable ASCII; empty if the header is absent. */
const printable = (name: string | undefined): string =>
  name === undefined ? '' : name.replaceAll(/[^ -~]/g, '?').slice(0, MAX_NAME_CHARACTERS);

import type pg from 'pg';
import type { Statement, SqlRow } from '../../core/database.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';
import { connect, openPool, runAndRelease } from './pool.ts';

/** The tenant that each connection is set to. A failed batch or transaction leaves the former tenant. */
const tenantOf = new WeakMap<pg.PoolClient, string>();

/** Returns the statements that set a connection to a tenant: none if it is. */
const setTenant = (client: pg.PoolClient, tenantId: string): Statement[] =>
  tenantOf.get(client) === tenantId ? [] : [{ text: `select set_config('app.tenant', $1, false)`, values: [tenantId] }];

/**
 * The pool for tenants' rows. A connection runs nothing before it is set to a tenant, in the same round trip. Forced
 * row-level security is the second barrier (docs/architecture.md#tenants).
 */
export class TenantPool {
  readonly #pool: pg.Pool;

  constructor(url: string, size: number) {
    this.#pool = openPool(url, 'dws_app', size);
  }

  /** Runs one statement on a connection of the tenant. Throws UNAVAILABLE if Postgres does not respond. */
  async query<R extends SqlRow>(tenantId: string, statement: Statement): Promise<R[]> {
    const client = await this.#connect();
    const statements = [...setTenant(client, tenantId), statement];
    return runAndRelease<R>(client, statements, () => tenantOf.set(client, tenantId));
  }

  /** Begins a transaction on a connection of the tenant. */
  transaction(tenantId: string): PipelinedTransaction {
    return new PipelinedTransaction({
      connect: () => this.#connect(),
      before: (client) => setTenant(client, tenantId),
      committed: (client) => tenantOf.set(client, tenantId),
    });
  }

  #connect(): Promise<pg.PoolClient> {
    return connect(this.#pool);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

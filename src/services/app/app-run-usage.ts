import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../core/platform.ts';
import type { Usage } from '../../core/usage.ts';
import { teamPayerSql } from '../usage/team-payer.ts';
import type { RunRecord } from './app-run-rows.ts';

const MAX_KNOWN_USERS = 10_000;

/** Charges the compute time of apps to users. */
export class ComputeCharger {
  /** Ids of users. A user and a team never have the same id. */
  readonly #users = new LRUCache<string, true>({ max: MAX_KNOWN_USERS });

  /** Returns the usage of the runs that started a handler. */
  async usageOf(tx: Pick<Transaction, 'query'>, tenantId: string, records: readonly RunRecord[]): Promise<Usage[]> {
    const runs = records.filter(({ computeMs }) => computeMs > 0);
    const payers = await this.#findPayers(tx, tenantId, new Set(runs.map(({ payerId }) => payerId)));
    return runs.map((run) => ({
      key: `app:${run.id}`,
      resource: 'app_compute' as const,
      quantity: (run.computeMs / 1000).toFixed(6),
      actor: `user:${payers.get(run.payerId) ?? run.payerId}` as const,
      entityType: 'app' as const,
      entityId: run.appId,
      metadata: { trigger: run.call ? 'webhook' : 'view', route: run.route },
      occurredAt: run.at,
    }));
  }

  /** Returns the users who pay for teams: a member, else a superuser. Users who pay for themselves are missing. */
  async #findPayers(
    tx: Pick<Transaction, 'query'>,
    tenantId: string,
    ids: ReadonlySet<string>,
  ): Promise<Map<string, string>> {
    const unknown = [...ids].filter((id) => !this.#users.has(id));
    if (unknown.length === 0) return new Map();
    const rows = await tx.query<{ id: string; isTeam: boolean; payer: string | null }>({
      text: `
        select p.id, t.id is not null as "isTeam", ${teamPayerSql('$1', 't.id')} as payer
        from unnest($2::uuid[]) p (id)
        left join dws.team t on t.tenant_id = $1 and t.id = p.id`,
      values: [tenantId, unknown],
    });
    for (const { id, isTeam } of rows) if (!isTeam) this.#users.set(id, true);
    return new Map(rows.flatMap(({ id, isTeam, payer }) => (isTeam && payer ? [[id, payer]] : [])));
  }
}

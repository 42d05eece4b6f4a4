/**
 * The bounded resources of this process: `metrics.ts` prints how much of each is in use. The processes that load datasets
 * report theirs as well, without the library of the metrics, which they do not print.
 */

/** Occupied places of a bounded resource of this process. */
interface GateState {
  places: number;
  running: number;
  waiting: number;
}

/** A pool of connections to Postgres, as `pg.Pool`. */
interface ConnectionPool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

const gates = new Map<string, () => GateState>();
const pools = new Map<string, ConnectionPool>();

export const REPORTED_GATES: ReadonlyMap<string, () => GateState> = gates;
export const REPORTED_POOLS: ReadonlyMap<string, ConnectionPool> = pools;

/** Reports the places of a resource. A later resource of the same name replaces an earlier one. */
export const reportPlaces = (work: string, read: () => GateState): unknown => gates.set(work, read);

/** Reports the connections of a pool. A later pool of the same name replaces an earlier one. */
export const reportPool = (name: string, pool: ConnectionPool): unknown => pools.set(name, pool);

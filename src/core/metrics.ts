import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { OperationName, OperationStatus } from './operations.ts';
import { REPORTED_GATES, REPORTED_POOLS } from './reported-resources.ts';

/** Metrics of this process, which `/metrics` prints. docs/contract/running.md#metrics lists them. */
export const METRICS = new Registry();

const registers = [METRICS];
const OPERATION_SECONDS = [0.1, 0.5, 2, 10, 60, 300, 1800, 3600];

/** Maximum number of names of GraphQL operations with metrics of their own. Clients choose the names. */
const MAX_NAMES = 100;
const names = new Set<string>();

/** A GraphQL operation of a client. `name` is null for an anonymous one. */
export interface GraphqlOperation {
  name: string | null;
  type: string;
  /** Whether the name may become a label: the caller has credentials and the document passed all checks. */
  mayBeLabel: boolean;
}

const operationSeconds = new Histogram({
  name: 'dws_operation_seconds',
  help: 'Time from the start of a long operation to its end in seconds, by its name and final state',
  labelNames: ['operation', 'outcome'],
  buckets: OPERATION_SECONDS,
  registers,
});
const queueSeconds = new Histogram({
  name: 'dws_operation_queue_seconds',
  help: 'Time from the request of a long operation to its first start in seconds',
  labelNames: ['operation'],
  buckets: OPERATION_SECONDS,
  registers,
});
const graphqlSeconds = new Histogram({
  name: 'dws_graphql_request_seconds',
  help: 'Time from a GraphQL request over HTTP to its response in seconds, by the name of the operation',
  labelNames: ['operation', 'type', 'status'],
  buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  registers,
});
const socketOperations = new Counter({
  name: 'dws_graphql_socket_operations_total',
  help: 'GraphQL operations that were started over WebSockets, by the name of the operation',
  labelNames: ['operation', 'type'],
  registers,
});

/** Records the end of a long operation. */
export const observeOperation = (operation: OperationName, outcome: OperationStatus, startedAt: Date): void =>
  operationSeconds.observe({ operation, outcome }, secondsSince(startedAt));

/** Records how long a long operation waited for its first start. */
export const observeQueueWait = (operation: OperationName, createdAt: Date): void =>
  queueSeconds.observe({ operation }, secondsSince(createdAt));

/** Records a GraphQL request over HTTP. */
export const observeGraphqlRequest = (operation: GraphqlOperation, status: number, seconds: number): void =>
  graphqlSeconds.observe({ operation: labelOf(operation), type: operation.type, status }, seconds);

/** Counts a GraphQL operation of a WebSocket. */
export const countSocketOperation = (operation: GraphqlOperation): void =>
  socketOperations.inc({ operation: labelOf(operation), type: operation.type });

new Gauge({
  name: 'dws_places',
  help: 'Work that has a limit in this process, by kind: how much may run, runs and waits',
  labelNames: ['work', 'state'],
  registers,
  collect() {
    for (const [work, read] of REPORTED_GATES) {
      const { places, running, waiting } = read();
      this.set({ work, state: 'total' }, places);
      this.set({ work, state: 'running' }, running);
      this.set({ work, state: 'waiting' }, waiting);
    }
  },
});

new Gauge({
  name: 'dws_pool_connections',
  help: 'Connections to Postgres by pool: in use, idle, and requests that wait for one',
  labelNames: ['pool', 'state'],
  registers,
  collect() {
    for (const [pool, { totalCount, idleCount, waitingCount }] of REPORTED_POOLS) {
      this.set({ pool, state: 'in use' }, totalCount - idleCount);
      this.set({ pool, state: 'idle' }, idleCount);
      this.set({ pool, state: 'waiting' }, waitingCount);
    }
  },
});

/** Returns the name for metrics: the first `MAX_NAMES` names that may be labels are kept, others are `other`. */
function labelOf({ name, mayBeLabel }: GraphqlOperation): string {
  if (name === null) return 'anonymous';
  if (!mayBeLabel || name.length > 64 || (names.size >= MAX_NAMES && !names.has(name))) return 'other';
  names.add(name);
  return name;
}

const secondsSince = (time: Date): number => Math.max(0, Date.now() - time.getTime()) / 1000;

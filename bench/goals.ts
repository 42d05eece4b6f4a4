/** The goals of speed, from quality.md of the design. A figure is a multiple of its reference unless it has a unit. */

/** A bound of one figure, which is compared with a measurement of the same run. */
export interface Goal {
  /** Divisor of a figure that is a multiple; empty for a figure with a unit. */
  reference: string;
  /** Unit of a figure that is not a multiple. */
  unit?: 'MiB' | 'ms' | 's' | 'reads' | 'calls' | 'jobs' | '%';
  atMost?: number;
  atLeast?: number;
}

const RAW = 'node:http and Postgres alone';
const COPY = 'COPY piped to COPY';
const CURSOR = 'the cursor read and discarded';
const ALONE = 'the same alone';

export const GOALS = {
  w1: { reference: RAW, atMost: 2.5 },
  w1Growth: { reference: '1,000 queries', atMost: 1.3 },
  feedPage: { reference: 'W1 in the same API' },
  w1Total: { reference: 'PostGraphile', atMost: 1 },
  w2: { reference: RAW, atMost: 4 },
  w3: { reference: RAW, atMost: 2.5 },
  w4: { reference: RAW, atMost: 4 },
  w4Postgres: { reference: RAW, atMost: 4 },
  w4Growth: { reference: '1,000 queries', atMost: 1.2 },
  startReady: { reference: '', unit: 's', atMost: 3 },
  idleMemory: { reference: '', unit: 'MiB', atMost: 260 },
  busyMemory: { reference: '', unit: 'MiB', atMost: 350 },
  refreshRows: { reference: COPY, atLeast: 0.7 },
  refreshCpu: { reference: COPY, atMost: 1.5 },
  loaderMemory: { reference: '', unit: 'MiB', atMost: 500 },
  webMemory: { reference: '', unit: 'MiB', atMost: 300 },
  webDelay: { reference: '', unit: 'ms', atMost: 50 },
  flatMemory: { reference: '1,000,000 rows', atMost: 1.2 },
  driverRows: { reference: CURSOR, atLeast: 0.3 },
  driverCpu: { reference: CURSOR, atMost: 5 },
  bulk: { reference: 'a bare bulk client', atLeast: 0.9 },
  aggregate: { reference: 'bare DuckDB', atMost: 1.5 },
  page: { reference: 'bare DuckDB', atMost: 1.5 },
  words: { reference: 'DuckDB with a column of words', atMost: 1.5 },
  clone: { reference: '', unit: 'ms', atMost: 100 },
  // Quality.md names no bounds of scale; these bounds come from its nearest lines.
  listGrowth: { reference: '1,000 datasets', atMost: 1.3 },
  besideRefreshes: { reference: ALONE, atMost: 3 },
  openPage: { reference: 'one open dataset', atMost: 1.5 },
  openMemory: { reference: '', unit: 'MiB' },
  progress: { reference: '', unit: 'ms', atMost: 50 },
  smallRefresh: { reference: '', unit: 'ms', atMost: 150 },
  smallUpload: { reference: '', unit: 'ms', atMost: 300 },
  wideFile: { reference: '500 columns', atMost: 5 },
  neighbour: { reference: ALONE, atMost: 3 },
  // Bounds of jobs: a minute of due jobs, and 1 % of a core for an idle scheduler.
  jobsStarted: { reference: '', unit: 's', atMost: 60 },
  jobsOnce: { reference: '', unit: 'jobs', atMost: 0 },
  jobsIdle: { reference: '', unit: '%', atMost: 1 },
  pdfPage: { reference: 'the browser alone', atMost: 1.5 },
  pdfRows: { reference: 'the browser alone', atMost: 1.3 },
  renderDelay: { reference: '', unit: 'ms', atMost: 50 },
  template: { reference: 'the library in a fresh isolate', atMost: 2.5 },
  appHandler: { reference: 'a bare fresh isolate', atMost: 2.5 },
  appQuery: { reference: '', unit: 'ms', atMost: 15 },
  appRate: { reference: '', unit: 'calls', atLeast: 100 },
  appDeploy: { reference: '', unit: 's', atMost: 1 },
  usageReport: { reference: 'the selects on the totals alone', atMost: 1.5 },
  usageAppend: { reference: 'an insert of the line alone', atMost: 1.3 },
  neighbourFailures: { reference: '', unit: 'reads', atMost: 0 },
} as const satisfies Record<string, Goal>;

export type GoalName = keyof typeof GOALS;

/**
 * The thread of a query process that reads the file. A blocked thread (a statement of SQLite cannot be interrupted)
 * does not prevent the process from ending.
 */
import { isDeepStrictEqual } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { ColumnsChanged } from '../../../core/columns-changed.ts';
import { clientErrorOf, stackOf } from '../../process/program-error.ts';
import type { RowCounter } from '../csv-encoder.ts';
import { checkResultSize } from './limits.ts';
import type { FileEngine, FromProcess, Job, OpenEngine, ToProcess } from './work.ts';

/** Number of complete segments that may wait for their reader. */
const MAX_UNREAD = 2;

const ENGINES: Record<Job['engine'], () => Promise<{ openEngine: OpenEngine }>> = {
  sqlite: () => import('../sqlite/sqlite-engine.ts'),
  file: () => import('../file/file-engine.ts'),
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const send = (message: FromProcess): void => parentPort!.postMessage(message);

const { rowCounter } = workerData as { rowCounter: RowCounter };
/** All tasks of a process are for one file. */
let opened: { config: Job['config']; engine: FileEngine } | undefined;
let unread = 0;
let capacity = Promise.withResolvers<void>();

async function run({ engine: name, file, config, work }: Job): Promise<unknown> {
  if (!opened || !isDeepStrictEqual(opened.config, config))
    opened = { config, engine: (await ENGINES[name]()).openEngine(file, config) };
  const { engine } = opened;
  switch (work.kind) {
    case 'inspect':
      return engine.inspect();
    case 'tables':
      return engine.tables();
    case 'describe':
      return engine.describe(work.query, work.provisional);
    case 'rows':
      return engine.rows(work.query, work.limit);
    case 'count':
      return engine.count(work.query, work.dir);
    case 'detectConfig':
      return engine.detectConfig(work.filename, work.columnsFrom);
    case 'segments':
      return writeSegments(engine.segments(work.query, work.dir, work.columns, rowCounter));
  }
}

/** Sends segments, and begins the next one only when at most one waits. */
async function writeSegments(segments: ReturnType<FileEngine['segments']>): Promise<void> {
  let rows = 0;
  let bytes = 0;
  for await (const segment of segments) {
    rows += segment.rows;
    bytes += segment.bytes;
    send({ kind: 'segment', segment });
    checkResultSize(rows, bytes);
    unread += 1;
    while (unread >= MAX_UNREAD) await capacity.promise;
  }
}

/** Returns the message for an error, without paths of the server. */
function failure(error: unknown, { file, work }: Job): FromProcess {
  if (error instanceof ColumnsChanged) return { kind: 'columns-changed', columns: error.columns };
  const known = clientErrorOf(error);
  if (!known) return { kind: 'broken', message: stackOf(error) };
  const message = known.message.replaceAll(file, 'the file').replace(/\/dev\/fd\/\d+/g, 'the file');
  return {
    kind: known.status === 503 ? 'unavailable' : 'refused',
    message: 'dir' in work ? message.replaceAll(work.dir, 'the temporary folder') : message,
  };
}

parentPort!.on('message', (message: ToProcess) => {
  // The engine of most files. A failure is an error of the task.
  if (message.kind === 'prepare')
    void import('../file/file-engine.ts').then(({ prepareEngine }) => prepareEngine()).catch(() => {});
  else if (message.kind === 'do')
    run(message.job).then(
      (value) => send({ kind: 'result', value }),
      (error: unknown) => send(failure(error, message.job)),
    );
  else {
    unread -= 1;
    capacity.resolve();
    capacity = Promise.withResolvers();
  }
});

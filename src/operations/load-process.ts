import { AsyncResource } from 'node:async_hooks';
import { fork, type ChildProcess } from 'node:child_process';
import { lowerProcessPriority } from '../adapters/process/priority.ts';
import { programBeside } from '../adapters/process/program.ts';
import { SpareProcess } from '../adapters/process/spare-process.ts';
import { abortable } from '../core/abortable.ts';
import type { Generation, GenerationId } from '../core/dataset-index.ts';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import { childEnvironment } from '../core/process-environment.ts';
import type { SourceConnection } from '../core/row-source.ts';
import { startSpan, traced } from '../core/tracing.ts';
import { driverOf } from '../services/datasource/datasource-config.ts';
import type { Progress } from '../services/operation/operation-repository.ts';
import { Interrupted } from './handler.ts';
import type { FromLoader, LoadJob, ToLoader } from './load-job.ts';
import { relaySource } from './source-relay.ts';

/** Time for a loader to stop its source and itself before it is killed. */
const LOADER_KILL_AFTER_MS = 5_000;
/** Time to remove what a loader left that died. Afterwards the janitor does. */
const CLEANING_MS = 10_000;

const LOADER = programBeside(import.meta.url, 'loader');

/** The loader exited without a result, so it may have left an unfinished generation. */
class LoaderDied extends Interrupted {}

/** A load in a separate process. */
export interface LoadProcess {
  /** The finished generation, locked until `release`. Rejects with the error of the load. */
  generation: Promise<Generation>;
  /**
   * Ends the process, or keeps it for the next load. A published generation is first prepared for searches; the returned
   * promise does not wait for that. Never throws.
   */
  release(published?: Generation): Promise<void>;
}

type LoadPlatform = Pick<Platform, 'drivers' | 'index' | 'log'>;

/**
 * Starts a load. Aborting the signal stops it, including the statement in the source. A load that fails leaves nothing,
 * even if its process was killed.
 */
export function startLoad(
  platform: LoadPlatform,
  job: LoadJob,
  signal: AbortSignal,
  progress: (update: Progress) => void,
): LoadProcess {
  const child = SPARE.take();
  const send = (message: ToLoader) => {
    if (child.connected) child.send(message, () => {});
  };
  const { promise: ended, resolve: setEnded } = Promise.withResolvers<Interrupted>();
  const onError = (error: Error) => setEnded(new Interrupted('Could not start the loader', { cause: error }));
  const onExit = (code: number | null, by: NodeJS.Signals | null) =>
    setEnded(new LoaderDied(`The loader exited: ${by ?? `status ${code}`}`));
  child.on('error', onError).on('exit', onExit);
  let killTimer: NodeJS.Timeout | undefined;
  const scheduleKill = () => {
    killTimer ??= setTimeout(() => child.kill('SIGKILL'), LOADER_KILL_AFTER_MS);
  };
  const abort = () => {
    send({ kind: 'abort' });
    scheduleKill();
  };
  signal.addEventListener('abort', abort);
  let isAttached = true;
  const detach = () => {
    isAttached = false;
    clearTimeout(killTimer);
    signal.removeEventListener('abort', abort);
    child.off('error', onError).off('exit', onExit).removeAllListeners('message');
  };
  void ended.then(detach);

  const attributes = { 'dws.generation.id': job.generationId, 'db.system.name': job.source.type };
  const generation = traced({ name: 'dataset load', attributes }, async () => {
    const relay =
      job.source.file === null ? undefined : relaySource(openSource(platform, job), job, signal, send, abort);
    const receive = (message: FromLoader) => (relay ? relay.receive(message) : traceSource(job.source.type, message));
    // The process may be older than this load, so its events are not in the span.
    child.on('message', AsyncResource.bind(receive));
    try {
      return await receiveGeneration(child, ended, progress);
    } catch (error) {
      if (error instanceof LoaderDied) await dropUnfinished(platform, job.generationId);
      throw signal.aborted ? signal.reason : (relay?.failure()?.error ?? error);
    } finally {
      await relay?.close();
    }
  });
  if (signal.aborted) abort();
  else send({ kind: 'load', job });
  return {
    generation,
    async release(published) {
      if (published) {
        child.on('message', (message: FromLoader) => {
          if (message.kind !== 'idle') return;
          detach();
          // A message about the abort may still be on its way to the process.
          if (signal.aborted || !SPARE.giveBack(child, null)) child.kill('SIGKILL');
        });
        return send({ kind: 'published', generation: published });
      }
      send({ kind: 'done' });
      if (isAttached) scheduleKill();
      await ended;
    },
  };
}

/** Drops the generation of a loader that has exited, whose lock is no longer needed. */
const dropUnfinished = ({ index, log }: LoadPlatform, generation: GenerationId): Promise<void> =>
  abortable(index.drop(generation), AbortSignal.timeout(CLEANING_MS)).catch((error: unknown) =>
    log.warn({ err: error, generation }, 'Could not drop the generation of a loader that died'),
  );

const openSource = (platform: Pick<Platform, 'drivers'>, { source }: LoadJob): SourceConnection =>
  driverOf(platform, source.type).connect(source.config, source.secrets, source.file);

const SPARE = new SpareProcess(forkLoader, { kind: 'prepare' } satisfies ToLoader);

function forkLoader(): ChildProcess {
  const child = fork(LOADER, {
    // In its own process group, so that Ctrl-C reaches only the parent, which then decides.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--max-old-space-size=256', '--disable-warning=ExperimentalWarning'],
    env: { ...childEnvironment(), UV_THREADPOOL_SIZE: '8' },
  });
  lowerProcessPriority(child.pid);
  return child;
}

/**
 * Records the span of a source that the loader has read, from the loader's times. The loader itself records no spans:
 * it would load the exporter for each refresh.
 */
function traceSource(type: string, message: FromLoader): void {
  if (message.kind !== 'source-ended') return;
  const span = startSpan({
    name: 'source read',
    kind: 'client',
    startedAt: message.startedAt,
    attributes: { 'db.system.name': type, 'db.operation.name': 'read', 'dws.rows': message.rows },
  });
  if (message.error) span.fail(message.error);
  span.end(message.endedAt);
}

/** Waits for the loader's generation. Rejects with its error, or with `LoaderDied` when it exits without one. */
function receiveGeneration(
  child: ChildProcess,
  ended: Promise<Interrupted>,
  progress: (update: Progress) => void,
): Promise<Generation> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromLoader) => {
      if (message.kind === 'progress') progress(message.progress);
      if (message.kind === 'loaded') resolve(message.generation);
      if (message.kind === 'failed')
        reject(new ApiError(message.failure.statusCode, message.failure.code as ErrorCode, message.failure.message));
      if (message.kind === 'broken') reject(new Error(`The loader failed: ${message.message}`));
      if (message.kind === 'interrupted') reject(new Interrupted(message.why));
    });
    void ended.then(reject);
  });
}

import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../core/config.ts';
import type { Generation } from '../core/dataset-index.ts';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import { Interrupted } from './handler.ts';
import type { FromLoader, LoadJob, ToLoader } from './load-job.ts';

/** Milliseconds in which a loader stops its source and itself before it is killed. */
const LOADER_KILL_AFTER_MS = 5_000;

/** The loader as it runs here: compiled beside the compiled parent, by Node's own type stripping beside the sources. */
const LOADER = fileURLToPath(new URL(`./loader${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

/** A load in a process of its own. */
export interface LoadProcess {
  /** The finished generation, not yet visible; its lock is held until `release`. Rejects with what went wrong. */
  generation: Promise<Generation>;
  /** Lets the process go, when the generation is published or given up: a published one it still makes ready for searches, for which nobody waits. Never throws. */
  release(published?: Generation): Promise<void>;
}

/** Starts a load. Aborting the signal stops it down to the statement in the source. */
export function startLoad(job: LoadJob, signal: AbortSignal, progress: (rows: number) => void): LoadProcess {
  const child = fork(LOADER, {
    // Of a group of its own: Ctrl-C reaches the parent, which decides.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--max-old-space-size=256', '--disable-warning=ExperimentalWarning'],
    env: { ...childEnvironment(), UV_THREADPOOL_SIZE: '8' },
  });
  const say = (message: ToLoader) => {
    if (child.connected) child.send(message, () => {});
  };
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  let killer: NodeJS.Timeout | undefined;
  const soon = () => {
    killer ??= setTimeout(() => child.kill('SIGKILL'), LOADER_KILL_AFTER_MS);
  };
  const abort = () => {
    say({ kind: 'abort' });
    soon();
  };
  signal.addEventListener('abort', abort);
  void exited.then(() => {
    clearTimeout(killer);
    signal.removeEventListener('abort', abort);
  });

  const generation = answerOf(child, progress).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
  if (signal.aborted) abort();
  else say({ kind: 'load', job });
  return {
    generation,
    async release(published) {
      if (published) return say({ kind: 'published', generation: published });
      say({ kind: 'done' });
      soon();
      await exited;
    },
  };
}

/** Waits for what the loader comes to, as the error it means where it is one. A loader that ends without a word was interrupted. */
function answerOf(child: ChildProcess, progress: (rows: number) => void): Promise<Generation> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromLoader) => {
      if (message.kind === 'progress') progress(message.rows);
      if (message.kind === 'loaded') resolve(message.generation);
      if (message.kind === 'failed')
        reject(new ApiError(message.failure.statusCode, message.failure.code as ErrorCode, message.failure.message));
      if (message.kind === 'broken') reject(new Error(`The loader failed: ${message.message}`));
      if (message.kind === 'interrupted') reject(new Interrupted(message.why));
    });
    child.once('error', (error) => reject(new Interrupted('The loader could not be started', { cause: error })));
    child.once('exit', (code, signal) => reject(new Interrupted(`The loader ended by ${signal ?? `status ${code}`}`)));
  });
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE, currentBuild } from '../support/built-service.ts';
import type { WorkerOrders } from './worker-process.ts';

export interface WorkerProcess {
  pid: number;
  child: ChildProcess;
  /** Sends the signal and waits until the process has exited. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Options of Node: the compiled service, unless it is outdated. */
function sourcesOptions(): string[] {
  const built = new URL('../support/built-sources.ts', import.meta.url).href;
  return ['--disable-warning=ExperimentalWarning', '--import', currentBuild() ? built : '@oxc-node/core/register'];
}

/** Starts a worker in a separate process and waits until it is ready. */
export async function startWorkerProcess(orders: WorkerOrders): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL('./worker-process.ts', import.meta.url)), {
    execArgv: sourcesOptions(),
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(orders);
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('The worker did not start');
    }),
  ]);
  return {
    pid: child.pid!,
    child,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}

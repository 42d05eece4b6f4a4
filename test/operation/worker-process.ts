/** A worker in a separate process. It receives commands over the IPC channel and exits when that closes. */
import { createHandlers } from '../../src/operations/handlers.ts';
import { countingHandlers } from './counting.ts';
import { openTestPlatform, startQuickWorker } from './platform.ts';

export interface WorkerOrders {
  url: string;
  dataDir: string;
  /** Which handlers the worker has. */
  handlers: 'real' | 'counting' | 'counting without takeover';
}

process.on('disconnect', () => process.exit());
process.once('message', (orders: WorkerOrders) => void startWorker(orders));

async function startWorker({ url, dataDir, handlers: handlersName }: WorkerOrders): Promise<void> {
  const testPlatform = await openTestPlatform(url, dataDir);
  const worker = await startQuickWorker(
    testPlatform,
    handlersName === 'real'
      ? createHandlers(testPlatform.loaders)
      : countingHandlers({ takeover: handlersName === 'counting' }),
  );
  const stop = async () => {
    await worker.stop();
    await testPlatform.close();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());
  process.send?.('ready');
}

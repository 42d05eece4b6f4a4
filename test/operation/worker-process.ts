/** A worker in a process of its own. Its orders come over the channel; it ends with it. */
import { handlers } from '../../src/operations/handlers.ts';
import { countingHandlers } from './counting.ts';
import { openTestPlatform, startQuickWorker } from './platform.ts';

/** `what` it does: the real operations, or counting that is taken over or not. */
export interface WorkerOrders {
  url: string;
  dataDir: string;
  what: 'real' | 'counting' | 'mortal counting';
}

process.on('disconnect', () => process.exit());
process.once('message', (orders: WorkerOrders) => void work(orders));

async function work({ url, dataDir, what }: WorkerOrders): Promise<void> {
  const opened = await openTestPlatform(url, dataDir);
  const worker = await startQuickWorker(
    opened,
    what === 'real' ? handlers(opened.loaders) : countingHandlers({ takeover: what === 'counting' }),
  );
  const stop = async () => {
    await worker.stop();
    await opened.close();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());
  process.send?.('ready');
}

import type { PgBossQueue } from '../adapters/queue/pg-boss.ts';
import type { Platform } from '../core/platform.ts';
import { handlers } from '../operations/handlers.ts';
import { startReconciler } from '../operations/reconciler.ts';
import { startRunner } from '../operations/runner.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Takes operations from the queue and looks after those whose worker died. */
export async function startWorker(platform: Platform, queue: PgBossQueue, databaseUrl: string): Promise<{ stop(): Promise<void> }> {
  const known = handlers(databaseUrl);
  const runner = await startRunner(platform, queue, known, { heartbeat: 5 * SECOND, patience: 20 * SECOND });
  const reconciler = startReconciler(platform, known, { interval: 10 * SECOND, silence: 30 * SECOND, retention: 7 * 24 * 60 * MINUTE, replacedAge: 10 * MINUTE, orphanAge: 10 * MINUTE });
  return {
    async stop() {
      await reconciler.stop();
      await runner.stop();
    },
  };
}

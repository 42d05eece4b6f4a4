import type { Platform } from '../core/platform.ts';
import { startAgentDispatcher } from '../operations/agent-dispatcher.ts';
import { createHandlers } from '../operations/handlers.ts';
import { startJobScheduler } from '../operations/job-scheduler.ts';
import { startMailDelivery } from '../operations/mail-delivery.ts';
import { startReconciler } from '../operations/reconciler.ts';
import { startResealing } from '../operations/reseal.ts';
import { startRunner } from '../operations/runner.ts';
import { startUsagePasses } from '../operations/usage-passes.ts';
import { startWorkspaceSweeper } from '../operations/workspace-sweeper.ts';
import type { OpenPlatform } from './platform.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/**
 * Starts the loops of a worker: they start due jobs and agents, run operations, take over operations of dead workers,
 * meter gauges, delete unreferenced data, encrypt values again under the newest key, and deliver mail.
 */
export async function startWorker({
  platform,
  queue,
  loaders,
}: Pick<OpenPlatform, 'platform' | 'queue' | 'loaders'>): Promise<{ stop(): Promise<void> }> {
  const operationHandlers = createHandlers(loaders);
  const runner = await startRunner(platform, queue, operationHandlers, {
    heartbeat: 5 * SECOND_MS,
    shutdownTimeout: 20 * SECOND_MS,
  });
  const reconciler = startReconciler(platform, operationHandlers, {
    interval: 10 * SECOND_MS,
    heartbeatTimeout: 20 * SECOND_MS,
    retention: 7 * 24 * 60 * MINUTE_MS,
    replacedAge: 10 * MINUTE_MS,
    orphanAge: 10 * MINUTE_MS,
    fileAge: 60 * MINUTE_MS,
    sweepTimeout: 15 * SECOND_MS,
  });
  const scheduler = startJobScheduler(platform, { interval: SECOND_MS });
  const dispatcher = startAgentDispatcher(platform, { interval: SECOND_MS });
  const sweeper = startWorkspaceSweeper(platform, { interval: 10 * MINUTE_MS });
  const usage = startUsagePasses(platform, { interval: 10 * MINUTE_MS, shortInterval: MINUTE_MS });
  const resealing = startResealing(platform, { interval: 10 * MINUTE_MS });
  const delivery = await startDelivery(platform);
  return {
    async stop() {
      await Promise.all([reconciler.stop(), scheduler.stop(), dispatcher.stop(), sweeper.stop(), usage.stop()]);
      await resealing.stop();
      await Promise.all([runner.stop(), delivery?.stop()]);
    },
  };
}

/** Starts the delivery of mail. Returns undefined without `SMTP_URL`: mails then stay in the outbox. */
async function startDelivery(platform: Platform): Promise<{ stop(): Promise<void> } | undefined> {
  const { SMTP_URL: url, MAIL_FROM: from } = platform.config;
  if (!url) return undefined;
  const { createSmtpMailer } = await import('../adapters/mail/smtp-mailer.ts');
  const host = new URL(platform.publicUrl).hostname;
  const mailer = createSmtpMailer({ url, from: from ?? `no-reply@${host}`, host });
  return startMailDelivery(platform, mailer, {
    interval: 5 * SECOND_MS,
    attemptTimeout: 50 * SECOND_MS,
    claimTimeout: MINUTE_MS,
    shutdownTimeout: 15 * SECOND_MS,
    retryDelays: [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS],
  });
}

import { createSmtpMailer } from '../adapters/mail/smtp-mailer.ts';
import type { Platform } from '../core/platform.ts';
import { handlers } from '../operations/handlers.ts';
import { startMailDelivery } from '../operations/mail-delivery.ts';
import { startReconciler } from '../operations/reconciler.ts';
import { startRunner } from '../operations/runner.ts';
import type { OpenPlatform } from './platform.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Takes operations from the queue, looks after those whose worker died and, where there is a mail server, sends what is in the outbox. */
export async function startWorker({
  platform,
  queue,
  loaders,
}: Pick<OpenPlatform, 'platform' | 'queue' | 'loaders'>): Promise<{ stop(): Promise<void> }> {
  const known = handlers(loaders);
  const runner = await startRunner(platform, queue, known, { heartbeat: 5 * SECOND, shutdownTimeout: 20 * SECOND });
  const reconciler = startReconciler(platform, known, {
    interval: 10 * SECOND,
    heartbeatTimeout: 20 * SECOND,
    retention: 7 * 24 * 60 * MINUTE,
    replacedAge: 10 * MINUTE,
    orphanAge: 10 * MINUTE,
    fileAge: 60 * MINUTE,
  });
  const delivery = deliver(platform);
  return {
    async stop() {
      await reconciler.stop();
      await Promise.all([runner.stop(), delivery?.stop()]);
    },
  };
}

/** Without `SMTP_URL` mails wait in the outbox for an operator to read them. */
function deliver(platform: Platform): { stop(): Promise<void> } | undefined {
  const { SMTP_URL: url, MAIL_FROM: from } = platform.config;
  if (!url) return undefined;
  const host = new URL(platform.publicUrl).hostname;
  const mailer = createSmtpMailer({ url, from: from ?? `no-reply@${host}`, host });
  return startMailDelivery(platform, mailer, {
    interval: 5 * SECOND,
    attemptTimeout: 50 * SECOND,
    claimTimeout: MINUTE,
    shutdownTimeout: 15 * SECOND,
    retryDelays: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  });
}

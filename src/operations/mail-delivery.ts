import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { Dispatcher, type WaitingUser } from '../adapters/queue/dispatcher.ts';
import type { FileStore } from '../core/files.ts';
import { MailRefused, MailUnconfirmed, type Mailer } from '../core/mailer.ts';
import { CHANNELS } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { traced } from '../core/tracing.ts';
import { seesMailedRows } from '../services/job/drivers/email/mailed-rows.ts';
import { createJobContext } from '../services/job/job-context.ts';
import { maskResetLinks } from '../services/resource/mail.ts';
import { claimMail, claimMailOf, listMailSenders, type DueMail } from './mail-claims.ts';

/** Times in milliseconds. */
export interface DeliveryOptions {
  /** Pause between two searches for due mails. New mails are sent immediately. */
  interval: number;
  /** Limit of one attempt, without the time for attachments. */
  attemptTimeout: number;
  /** Age from which an attempt without an outcome counts as dead. Greater than `attemptTimeout`. */
  claimTimeout: number;
  /** Time for which a shutdown waits for running attempts before it aborts them. */
  shutdownTimeout: number;
  /** Pauses between the attempts. A mail has failed after one attempt more than there are pauses. */
  retryDelays: readonly number[];
}

/** Number of mails that one process sends concurrently, without mails of jobs and apps. */
const MAX_SENDERS = 4;
/** Number of mails of jobs and apps that one process sends concurrently. One owner gets at most half of them. */
const MAX_JOB_SENDERS = 2;
const MAX_ERROR_CHARACTERS = 500;
/** Slowest connection, for attachments: an attempt has more time the larger they are. */
const MIN_BYTES_PER_MS = 50;

const ARRIVAL_UNKNOWN = 'It is unknown whether the mail arrived';
const SENDER_DIED = `The sending process ended unexpectedly. ${ARRIVAL_UNKNOWN}`;
const EXPIRED = 'The mail expired before it could be sent';

/**
 * Starts to send the mails in the outbox, of all tenants. Several processes share the work. Mails of jobs and apps have
 * senders of their own, for which the owners take turns, because they are many and others wait for e.g. a new password.
 */
export function startMailDelivery(
  platform: Platform,
  mailer: Mailer,
  options: DeliveryOptions,
): { stop(): Promise<void> } {
  const { log, notifications } = platform;
  const running = new Set<Promise<void>>();
  const aborter = new AbortController();
  let senders = 0;
  let isStopping = false;
  let isWoken = false;

  const onError = (error: unknown) => log.warn({ err: error }, 'Could not send the mails of the outbox');
  const send = (mail: DueMail) => sendMail(platform, mailer, mail, options, aborter.signal);
  /** Runs a task for whose end `stop` waits. */
  const run = async (task: () => Promise<void>): Promise<void> => {
    const promise = task().catch(onError);
    running.add(promise);
    await promise;
    running.delete(promise);
  };
  /** Sends one mail after the other until none is due. While there are mails, it starts another sender. */
  const sendDueMails = async (): Promise<void> => {
    do {
      isWoken = false;
      for (let mail = await claimMail(platform); mail; mail = isStopping ? null : await claimMail(platform)) {
        wakeSender();
        await send(mail);
      }
    } while (isWoken && !isStopping);
  };
  const wakeSender = (): void => {
    isWoken = true;
    if (isStopping || senders >= MAX_SENDERS) return;
    senders++;
    void run(sendDueMails).then(() => senders--);
  };
  const ofJobs = new Dispatcher<DueMail & WaitingUser>({
    concurrency: MAX_JOB_SENDERS,
    perTenant: MAX_JOB_SENDERS,
    list: () => listMailSenders(platform),
    async fetch(owner) {
      const mail = await claimMailOf(platform, owner);
      return mail && { ...mail, ...owner };
    },
    run: (mail) => run(() => send(mail)),
    onError,
  });
  const wake = (): void => {
    wakeSender();
    ofJobs.wake();
  };

  const unsubscribes = [notifications.on(CHANNELS.mail, wake), notifications.onResync(wake)];
  const timer = setInterval(
    () =>
      void failOverdueMails(platform, options.claimTimeout).then(wake, (error: unknown) =>
        log.warn({ err: error }, 'Could not check the outbox for overdue mails'),
      ),
    options.interval,
  );
  wakeSender();
  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      for (const unsubscribe of unsubscribes) unsubscribe();
      await ofJobs.stop();
      await Promise.race([Promise.all(running), setTimeout(options.shutdownTimeout, undefined, { ref: false })]);
      aborter.abort(new Error('The worker shuts down'));
      await Promise.all(running);
    },
  };
}

/** Sends a claimed mail and records the outcome. Neither the address nor the text is logged. */
async function sendMail(
  platform: Platform,
  mailer: Mailer,
  mail: DueMail,
  { attemptTimeout, retryDelays }: DeliveryOptions,
  abortSignal: AbortSignal,
): Promise<void> {
  const { id, to, subject, sealedText, sealedHtml, attempts, traceparent: parent, files } = mail;
  const { secrets, log } = platform;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const timeout = attemptTimeout + Math.ceil(bytes / MIN_BYTES_PER_MS);
  const signal = AbortSignal.any([abortSignal, AbortSignal.timeout(timeout)]);
  const attachments = files.map((file) => ({ ...file, content: readLater(platform.files, file.id) }));
  try {
    const refusal = await findRefusal(platform, mail, signal);
    if (refusal !== null) {
      log.info({ mail: id, refusal }, 'Dropped a mail');
      return await recordDropped(platform, id, refusal);
    }
    await traced(
      { name: 'mail send', kind: 'client', parent, attributes: { 'dws.mail.id': id, 'dws.mail.attempt': attempts } },
      () =>
        mailer.send(
          {
            id,
            to,
            subject,
            text: secrets.open(sealedText, 'the text of the mail'),
            html: sealedHtml && secrets.open(sealedHtml, 'the text of the mail'),
            attachments,
          },
          signal,
        ),
    );
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isUnconfirmed = error instanceof MailUnconfirmed;
    // A mail that may have arrived is not sent again.
    const isFinal = isUnconfirmed || error instanceof MailRefused;
    const retryDelay = isFinal ? undefined : retryDelays[attempts - 1];
    log.warn({ mail: id, attempts, code, again: retryDelay !== undefined }, 'Could not send a mail');
    return recordFailedAttempt(platform, id, isUnconfirmed ? `${message}. ${ARRIVAL_UNKNOWN}` : message, retryDelay);
  }
  await recordSent(platform, id);
  log.info({ mail: id, attempts }, 'Sent a mail');
}

/** Returns why the recipient may not get the mail, null if they may. Access may have changed since it was queued. */
async function findRefusal(
  platform: Platform,
  { tenantId, recipientId, refusal, rowsOf }: DueMail,
  signal: AbortSignal,
): Promise<string | null> {
  if (refusal !== null || rowsOf.length === 0) return refusal;
  const ctx = await createJobContext(platform, tenantId, `user:${recipientId}`, signal);
  return (await seesMailedRows(ctx, rowsOf)) ? null : 'The recipient may no longer read the attached rows';
}

/** Returns the bytes of a file, which is opened when they are read. An attempt may end before. */
const readLater = (files: FileStore, id: string): Readable => Readable.from(readFile(files, id), { objectMode: false });

async function* readFile(files: FileStore, id: string): AsyncGenerator<Uint8Array> {
  const content = await files.open(id);
  if (!content) throw new Error('An attached file is missing');
  yield* content;
}

async function recordSent({ system }: Platform, id: string): Promise<void> {
  await system.query({
    text: `update dws.mail
      set status = 'sent', error = null, claimed_at = null, sent_at = now(), version = version + 1, updated_at = now()
      where id = $1 and status = 'queued'`,
    values: [id],
  });
}

/** Records a mail as failed without an attempt: `claim` has counted one. */
async function recordDropped({ system }: Platform, id: string, reason: string): Promise<void> {
  await system.query({
    text: `update dws.mail
      set status = 'failed', error = $2, claimed_at = null, attempts = attempts - 1,
        version = version + 1, updated_at = now()
      where id = $1 and status = 'queued'`,
    values: [id, reason],
  });
}

/** Queues the mail again after `retryDelay` milliseconds. Without a delay it has failed. */
async function recordFailedAttempt(
  { system }: Platform,
  id: string,
  message: string,
  retryDelay: number | undefined,
): Promise<void> {
  // A mail server may quote the text in its error, and so a secret link.
  const reason = maskResetLinks(message).slice(0, MAX_ERROR_CHARACTERS);
  await system.query({
    text: `update dws.mail
      set status = $2, error = $3, claimed_at = null, next_attempt_at = now() + $4 * interval '1 ms',
        version = version + 1, updated_at = now()
      where id = $1 and status = 'queued'`,
    values: [id, retryDelay === undefined ? 'failed' : 'queued', reason, retryDelay ?? 0],
  });
}

/**
 * Records mails as failed that have expired, and those whose sender died. The latter may have arrived, so they are not
 * sent again. See docs/contract/people.md#mail.
 */
async function failOverdueMails({ system }: Platform, claimTimeout: number): Promise<void> {
  await system.query({
    text: `update dws.mail
      set status = 'failed', error = case when claimed_at is null then $2 else $3 end, claimed_at = null,
        version = version + 1, updated_at = now()
      where status = 'queued'
        and (
          (claimed_at is null and expires_at <= now())
          or claimed_at < now() - interval '1 ms' * ($1 + $4 * (
            select coalesce(sum((a ->> 'size')::float8), 0) from jsonb_array_elements(attachments) a
          ))
        )`,
    values: [claimTimeout, EXPIRED, SENDER_DIED, 1 / MIN_BYTES_PER_MS],
  });
}

import { setTimeout } from 'node:timers/promises';
import { MailRefused, type Mailer } from '../core/mailer.ts';
import { CHANNELS } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { maskResetLinks } from '../services/resource/mail.ts';

/** Milliseconds. */
export interface DeliveryOptions {
  /** Between looks at what is due again. Mails that were just written are told of at once. */
  interval: number;
  /** What one attempt may take. */
  longest: number;
  /** How long after its beginning an attempt counts as dead. Greater than `longest`. */
  silence: number;
  /** How long a shutdown waits for the attempts under way before it breaks them off. */
  patience: number;
  /** Pauses between the attempts; after the last one the mail has failed. */
  pauses: readonly number[];
}

/** Mails sent at once by one process. */
const AT_ONCE = 4;
/** Characters of an error that are kept. */
const MAX_ERROR_CHARACTERS = 500;

const DIED = 'The process that sent it ended before it was done; whether it arrived is not known';
const EXPIRED = 'It could not be sent before it was out of date';

interface Due extends Record<string, unknown> {
  id: string;
  to: string;
  subject: string;
  sealedText: string;
  sealedHtml: string | null;
  attempts: number;
}

/** Sends what is in the outbox, of all tenants; several processes share the work. */
export function startMailDelivery(
  platform: Platform,
  mailer: Mailer,
  options: DeliveryOptions,
): { stop(): Promise<void> } {
  const { log, notifications } = platform;
  const senders = new Set<Promise<void>>();
  const breaking = new AbortController();
  let stopping = false;
  let rung = false;

  /** Sends one mail after the other until none is due. While there is work, another sender is started beside it. */
  const sendDue = async (): Promise<void> => {
    do {
      rung = false;
      for (let mail = await claim(platform); mail; mail = stopping ? undefined : await claim(platform)) {
        wake();
        await attempt(platform, mailer, mail, options, breaking.signal);
      }
    } while (rung && !stopping);
  };
  const wake = (): void => {
    rung = true;
    if (stopping || senders.size >= AT_ONCE) return;
    const running = sendDue()
      .catch((error: unknown) => log.warn({ err: error }, 'The outbox could not be worked on'))
      .finally(() => senders.delete(running));
    senders.add(running);
  };

  const off = [notifications.on(CHANNELS.mail, wake), notifications.onResync(wake)];
  const timer = setInterval(
    () =>
      void giveUp(platform, options.silence).then(wake, (error: unknown) =>
        log.warn({ err: error }, 'The outbox could not be looked through'),
      ),
    options.interval,
  );
  wake();
  return {
    async stop() {
      stopping = true;
      clearInterval(timer);
      for (const stopListening of off) stopListening();
      await Promise.race([Promise.all(senders), setTimeout(options.patience, undefined, { ref: false })]);
      breaking.abort(new Error('The worker shuts down'));
      await Promise.all(senders);
    },
  };
}

/** Takes the mail that is due for longest. From here on it is this process's alone. */
async function claim({ system }: Platform): Promise<Due | undefined> {
  const [mail] = await system.query<Due>({
    name: 'mail_claim',
    text: `update dws.mail set claimed_at = now(), attempts = attempts + 1, version = version + 1, updated_at = now()
      where id = (select id from dws.mail where status = 'queued' and claimed_at is null and next_attempt_at <= now() and (expires_at is null or expires_at > now())
        order by next_attempt_at, id limit 1 for update skip locked)
      returning id, recipient as "to", subject, sealed_text as "sealedText", sealed_html as "sealedHtml", attempts`,
  });
  return mail;
}

/** One attempt, from the claim to its record. Neither the address nor the words of the mail go to the log. */
async function attempt(
  platform: Platform,
  mailer: Mailer,
  mail: Due,
  { longest, pauses }: DeliveryOptions,
  breaking: AbortSignal,
): Promise<void> {
  const { id, to, subject, sealedText, sealedHtml, attempts } = mail;
  const { secrets, system, log } = platform;
  try {
    await mailer.send(
      { id, to, subject, text: secrets.open(sealedText), html: sealedHtml && secrets.open(sealedHtml) },
      AbortSignal.any([breaking, AbortSignal.timeout(longest)]),
    );
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const pause = error instanceof MailRefused ? undefined : pauses[attempts - 1];
    log.warn({ mail: id, attempts, code, again: pause !== undefined }, 'A mail could not be sent');
    // Servers quote what they dislike, and that may be the link.
    const reason = maskResetLinks(message).slice(0, MAX_ERROR_CHARACTERS);
    await system.query({
      text: `update dws.mail set status = $2, error = $3, claimed_at = null, next_attempt_at = now() + $4 * interval '1 ms', version = version + 1, updated_at = now() where id = $1 and status = 'queued'`,
      values: [id, pause === undefined ? 'failed' : 'queued', reason, pause ?? 0],
    });
    return;
  }
  await system.query({
    text: `update dws.mail set status = 'sent', error = null, claimed_at = null, sent_at = now(), version = version + 1, updated_at = now() where id = $1 and status = 'queued'`,
    values: [id],
  });
  log.info({ mail: id, attempts }, 'A mail was sent');
}

/** Records as failed what a process that died was sending (contract 6: it is not sent twice), and what is out of date. */
async function giveUp({ system }: Platform, silence: number): Promise<void> {
  await system.query({
    name: 'mail_give_up',
    text: `update dws.mail set status = 'failed', error = case when claimed_at is null then $2 else $3 end, claimed_at = null, version = version + 1, updated_at = now()
      where status = 'queued' and (claimed_at < now() - $1 * interval '1 ms' or (claimed_at is null and expires_at <= now()))`,
    values: [silence, EXPIRED, DIED],
  });
}

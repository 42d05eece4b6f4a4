import { Mail } from '../../../entities/mail.ts';
import { Notification } from '../../../entities/notification.ts';
import { tooMany } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { lockKey } from '../resource/lock-key.ts';
import type { AddressedMail } from '../resource/mail.ts';

/** What the jobs of a tenant may send in an hour. */
const [MAX_MAILS, MAX_NOTIFICATIONS] = [1000, 1000];
/** Mails that the jobs of one owner may send in an hour to addresses that are of no user. */
const MAX_PLAIN_MAILS = 200;
const LAST_HOUR = `created_at > now() - interval '1 hour'`;

/**
 * Checks the mails that a job is to send for its owner. Until the transaction ends, other jobs of the tenant wait. Throws
 * RATE_LIMITED if they are too many together with those of the last hour.
 */
export async function checkMailLimits(
  tx: Transaction,
  { tenantId, userId }: Pick<Viewer, 'tenantId' | 'userId'>,
  mails: readonly Pick<AddressedMail, 'userId'>[],
): Promise<void> {
  lockKey(tx, `job-mails:${tenantId}`);
  const sent = await tx.count(Mail, { sql: `r.source is not null and r.${LAST_HOUR}`, params: [] });
  if (sent + mails.length > MAX_MAILS) throw tooMany(`The jobs of a tenant send at most ${MAX_MAILS} mails in an hour`);
  const plain = mails.filter((mail) => mail.userId === null).length;
  if (plain === 0) return;
  const former = await tx.count(Mail, {
    sql: `r.source is not null and r.sender_id = ? and r.${LAST_HOUR}`,
    params: [userId],
  });
  if (former + plain > MAX_PLAIN_MAILS)
    throw tooMany(`The jobs of an owner send at most ${MAX_PLAIN_MAILS} mails in an hour to addresses of no user`);
}

/**
 * Sends notifications of a job: `send` returns their number. Until the transaction ends, other jobs of the tenant wait.
 * Throws RATE_LIMITED if they are too many together with those of the last hour.
 */
export async function limitNotifications(
  tx: Transaction,
  { tenantId }: Pick<Viewer, 'tenantId'>,
  send: () => Promise<number>,
): Promise<void> {
  lockKey(tx, `job-notifications:${tenantId}`);
  const sent = await tx.count(Notification, { sql: `r.type = 'job.notification' and r.${LAST_HOUR}`, params: [] });
  if (sent + (await send()) > MAX_NOTIFICATIONS)
    throw tooMany(`The jobs of a tenant send at most ${MAX_NOTIFICATIONS} notifications in an hour`);
}

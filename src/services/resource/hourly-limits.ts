import { Mail } from '../../../entities/mail.ts';
import { Notification } from '../../../entities/notification.ts';
import { tooMany } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { lockKey } from './lock-key.ts';
import type { AddressedMail } from './mail.ts';

/** What sends messages for its owner. Their notifications have the type `<sender>.notification`. */
type Sender = 'job' | 'app';

/** What the jobs of a tenant may send in an hour, and as much its apps. */
const [MAX_MAILS, MAX_NOTIFICATIONS] = [1000, 1000];
/** Mails that the jobs, or the apps, of one owner may send in an hour to addresses that are of no user. */
const MAX_PLAIN_MAILS = 200;
/** Mails that one app may send in an hour. */
const MAX_APP_MAILS = 100;
const LAST_HOUR = `created_at > now() - interval '1 hour'`;

/** Counts the mails of the last hour whose source begins with a text, and whose sender it is if one is given. */
const countMails = (tx: Transaction, source: string, senderId?: string): Promise<number> =>
  tx.count(Mail, {
    sql: `r.source is not null and r.source like ? and r.${LAST_HOUR}${senderId === undefined ? '' : ' and r.sender_id = ?'}`,
    params: [`${source}:%`, ...(senderId === undefined ? [] : [senderId])],
  });

/**
 * Checks the mails that a job or an app is to send for its owner, whose id is `userId`. Until the transaction ends, other
 * senders of the tenant wait. Throws RATE_LIMITED if they are too many together with those of the last hour.
 */
export async function checkMailLimits(
  tx: Transaction,
  sender: Sender,
  { tenantId, userId }: Pick<Viewer, 'tenantId' | 'userId'>,
  mails: readonly Pick<AddressedMail, 'userId'>[],
): Promise<void> {
  lockKey(tx, `${sender}-mails:${tenantId}`);
  const sent = await countMails(tx, sender);
  if (sent + mails.length > MAX_MAILS)
    throw tooMany(`The ${sender}s of a tenant send at most ${MAX_MAILS} mails in an hour`);
  const plain = mails.filter((mail) => mail.userId === null).length;
  if (plain > 0 && (await countMails(tx, sender, userId)) + plain > MAX_PLAIN_MAILS)
    throw tooMany(
      `The ${sender}s of an owner send at most ${MAX_PLAIN_MAILS} mails in an hour to addresses of no user`,
    );
}

/** Checks the number of mails that an app is to send, after `checkMailLimits`. Throws RATE_LIMITED if they are too many. */
export async function checkMailsOfApp(tx: Transaction, appId: string, count: number): Promise<void> {
  if ((await countMails(tx, `app:${appId}`)) + count > MAX_APP_MAILS)
    throw tooMany(`An app sends at most ${MAX_APP_MAILS} mails in an hour`);
}

/**
 * Sends notifications of a job or an app: `send` returns their number, as this function does. Until the transaction ends,
 * other senders of the tenant wait. Throws RATE_LIMITED if they are too many together with those of the last hour.
 */
export async function limitNotifications(
  tx: Transaction,
  sender: Sender,
  tenantId: string,
  send: () => Promise<number>,
): Promise<number> {
  lockKey(tx, `${sender}-notifications:${tenantId}`);
  const sent = await tx.count(Notification, {
    sql: `r.type = '${sender}.notification' and r.${LAST_HOUR}`,
    params: [],
  });
  const added = await send();
  if (sent + added > MAX_NOTIFICATIONS)
    throw tooMany(`The ${sender}s of a tenant send at most ${MAX_NOTIFICATIONS} notifications in an hour`);
  return added;
}

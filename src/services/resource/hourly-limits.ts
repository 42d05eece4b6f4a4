import { tooMany } from '../../core/errors.ts';
import { lockKey } from '../../core/locks.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AddressedMail } from './mail.ts';

/** A job or an app that sends messages for its owner. Their notifications have the type `<kind>.notification`. */
interface Sender {
  kind: 'job' | 'app';
  id: string;
  tenantId: string;
  /** Id of the owner, a user or a team. */
  ownerId: string;
}

/**
 * Maximum number of messages that the jobs of a tenant send in an hour. The same applies to its apps, and to mails and
 * notifications.
 */
export const MAX_OF_TENANT = 1000;
/**
 * Maximum number of messages that the jobs, or the apps, of one owner may send to others, and separately to the owner.
 */
export const MAX_OF_OWNER = MAX_OF_TENANT / 2;
/**
 * Maximum number of messages that one job or app may send to others, and so of the recipients of a mail besides the
 * owner.
 */
export const MAX_OF_ONE = MAX_OF_TENANT / 4;
/** Mails that the jobs, or the apps, of one owner may send in an hour to addresses that belong to no user. */
export const MAX_PLAIN_MAILS = 200;
/** Mails that one app may send in an hour. */
export const MAX_APP_MAILS = 100;

/** Numbers of messages that were sent in the last hour, or are about to be sent. */
interface Counts extends Record<string, unknown> {
  /** By all jobs, or apps, of the tenant. `ofTenant`, `ofOwner` and `ofOne` exclude messages to the owner. */
  ofTenant: number;
  /** By all jobs, or apps, of the owner. */
  ofOwner: number;
  /** By the sender. */
  ofOne: number;
  /** By all jobs, or apps, of the owner, to the owner. */
  toOwner: number;
}

/**
 * The counts of `table`, whose parameters are the tenant, the owner and the sender; `isOfOne` matches the messages of
 * the sender.
 */
const countsOf = (isOfOne: string): string => `
  count(*) filter (where user_id is distinct from sender_id)::int as "ofTenant",
  count(*) filter (where sender_id = $2 and user_id is distinct from sender_id)::int as "ofOwner",
  count(*) filter (where user_id is distinct from sender_id and ${isOfOne})::int as "ofOne",
  count(*) filter (where sender_id = $2 and user_id = $2)::int as "toOwner"`;

const LAST_HOUR = `created_at > now() - interval '1 hour'`;

/** Throws RATE_LIMITED if the messages of an hour are too many. */
function checkShares({ kind }: Sender, noun: string, { ofTenant, ofOwner, ofOne, toOwner }: Counts): void {
  const one = kind === 'job' ? 'A job' : 'An app';
  const refuse = (who: string, max: number, whom = '') => {
    throw tooMany(`${who} at most ${max} ${noun} in an hour${whom}`);
  };
  if (toOwner > MAX_OF_OWNER) refuse(`The ${kind}s of an owner send`, MAX_OF_OWNER, ' to the owner');
  if (ofOne > MAX_OF_ONE) refuse(`${one} sends`, MAX_OF_ONE, ' to others');
  if (ofOwner > MAX_OF_OWNER) refuse(`The ${kind}s of an owner send`, MAX_OF_OWNER, ' to others');
  if (ofTenant > MAX_OF_TENANT) refuse(`The ${kind}s of a tenant send`, MAX_OF_TENANT);
}

/**
 * Checks the mails that a job or an app is about to send for its owner. Until the transaction ends, other senders of
 * the tenant wait. Throws RATE_LIMITED if they are too many together with the mails of the last hour.
 */
export async function checkMailLimits(
  tx: Transaction,
  sender: Sender,
  mails: readonly Pick<AddressedMail, 'userId'>[],
): Promise<void> {
  const { kind, id, tenantId, ownerId } = sender;
  lockKey(tx, `${kind}-mails:${tenantId}`);
  // The source of a mail names the app, or the run of the job.
  const isOfOne =
    kind === 'app'
      ? `split_part(source, ':', 2) = $3::text`
      : `split_part(source, ':', 2) in (select id::text from dws.job_run where tenant_id = $1 and job_id = $3::uuid)`;
  const [sent] = await tx.query<Counts & { plain: number; allOfOne: number }>({
    text: `
      select ${countsOf(isOfOne)},
        count(*) filter (where sender_id = $2 and user_id is null)::int as plain,
        count(*) filter (where ${isOfOne})::int as "allOfOne"
      from dws.mail
      where tenant_id = $1 and source is not null and source like '${kind}:%' and ${LAST_HOUR}`,
    values: [tenantId, ownerId, id],
  });
  const { ofTenant, ofOwner, ofOne, toOwner, plain, allOfOne } = sent!;
  const own = mails.filter(({ userId }) => userId === ownerId).length;
  const others = mails.length - own;
  checkShares(sender, 'mails', {
    ofTenant: ofTenant + others,
    ofOwner: ofOwner + others,
    ofOne: ofOne + others,
    toOwner: toOwner + own,
  });
  const plainMails = mails.filter(({ userId }) => userId === null).length;
  if (plainMails > 0 && plain + plainMails > MAX_PLAIN_MAILS)
    throw tooMany(`The ${kind}s of an owner send at most ${MAX_PLAIN_MAILS} mails in an hour to addresses of no user`);
  if (kind === 'app' && allOfOne + mails.length > MAX_APP_MAILS)
    throw tooMany(`An app sends at most ${MAX_APP_MAILS} mails in an hour`);
}

/**
 * Sends notifications of a job or an app: `send` returns their number, as this function does. Until the transaction
 * ends, other senders of the tenant wait. Throws RATE_LIMITED if they are too many together with the notifications of
 * the last hour.
 */
export async function limitNotifications(
  tx: Transaction,
  sender: Sender,
  send: () => Promise<number>,
): Promise<number> {
  const { kind, id, tenantId, ownerId } = sender;
  lockKey(tx, `${kind}-notifications:${tenantId}`);
  const added = await send();
  const [sent] = await tx.query<Counts>({
    text: `
      select ${countsOf('resource_id = $3')}
      from dws.notification
      where tenant_id = $1 and type = '${kind}.notification' and ${LAST_HOUR}`,
    values: [tenantId, ownerId, id],
  });
  checkShares(sender, 'notifications', sent!);
  return added;
}

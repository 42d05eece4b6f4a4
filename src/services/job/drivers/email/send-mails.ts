import { conflict } from '../../../../core/errors.ts';
import type { ActionRun } from '../../../../core/job-drivers.ts';
import type { Transaction } from '../../../../core/platform.ts';
import { buildSentFileStatement } from '../../../resource/audit-read.ts';
import { checkMailLimits } from '../../../resource/hourly-limits.ts';
import { htmlToText } from '../../../resource/html-text.ts';
import { findMailRecipients, lockMailUsers, type MailRecipients } from '../../../resource/mail-recipients.ts';
import { hasQueuedMails, queueMails, type AddressedMail, type AttachedFile } from '../../../resource/mail.ts';
import { checkQuota } from '../../../resource/quota.ts';
import { deleteUnreferenced, insertStoredFile } from '../../../resource/stored-file.ts';
import { lockAttachedFiles } from './attachments.ts';
import type { EmailData } from './email-data.ts';
import { exportForRecipients, type RecipientExports } from './recipient-exports.ts';

/**
 * Queues the mails of an email action in one transaction. A second attempt in the same run adds none, so that none is
 * sent twice.
 */
export async function sendMails(run: ActionRun<EmailData>): Promise<void> {
  const { ctx } = run;
  const data = run.data;
  const { tenantId, userId: ownerId } = ctx.viewer;
  const recipients = await findMailRecipients(ctx, { tenantId, ownerId }, data.recipients);
  const perRecipient = data.runAs === 'recipient' && (data.attach ?? []).length > 0;
  const sent = perRecipient ? await sendOwnRows(run, data, recipients) : await sendFiles(run, data, recipients);
  logOutcome(run, recipients, sent);
}

/** Number of queued mails, undefined if an earlier attempt has queued them. */
interface Sent {
  count: number | undefined;
  exports?: RecipientExports;
}

/** Sends the same files to everyone. */
const sendFiles = async (
  run: ActionRun<EmailData>,
  data: EmailData,
  { users, addresses }: MailRecipients,
): Promise<Sent> => ({
  count: await run.ctx.transaction(async (tx) => {
    if (await isRepeated(tx, run)) return undefined;
    const { tenantId } = run.ctx.viewer;
    const attachments = await lockAttachedFiles(tx, run, data.attach ?? []);
    const locked = await lockMailUsers(tx, tenantId, users);
    const count = await queue(run, tx, data, [
      ...locked.map(({ id, email }) => ({ userId: id, to: email, attachments })),
      ...addresses.map((address) => ({ userId: null, to: address, attachments })),
    ]);
    if (count > 0) auditFiles(run, tx, attachments);
    return count;
  }),
});

/**
 * Records that files of the job leave the service. An earlier run may have created them, and then no other event of
 * this run states it.
 */
function auditFiles({ ctx, job }: ActionRun, tx: Transaction, files: readonly AttachedFile[]): void {
  const read = { action: 'jobActionFile', kind: 'job', key: null, resourceId: job.id, parameters: ['jobActionId'] };
  for (const { size } of files) tx.execute(buildSentFileStatement(ctx, read, size));
}

/** Sends each user files with the rows and fields that they may see. */
async function sendOwnRows(run: ActionRun<EmailData>, data: EmailData, { users }: MailRecipients): Promise<Sent> {
  const { ctx } = run;
  const saved = new Set<string>();
  try {
    const exports = await exportForRecipients(run, users, data.attach ?? [], saved);
    if (exports.files.size === 0 && exports.withoutFields > 0)
      throw conflict('An attached export has a filter or format that does not fit the fields that the recipients see');
    const count = await ctx.transaction((tx) => queueOwnRows(run, tx, data, users, exports));
    return { count, exports };
  } finally {
    await deleteUnreferenced(ctx, [...saved]);
  }
}

async function queueOwnRows(
  run: ActionRun<EmailData>,
  tx: Transaction,
  data: EmailData,
  users: MailRecipients['users'],
  { files }: RecipientExports,
): Promise<number | undefined> {
  if (await isRepeated(tx, run)) return undefined;
  const { platform, viewer } = run.ctx;
  const locked = await lockMailUsers(
    tx,
    viewer.tenantId,
    users.filter(({ id }) => files.has(id)),
  );
  const mails = locked.map(({ id, email }) => ({ userId: id, to: email, ...files.get(id)! }));
  const used = new Map(mails.flatMap(({ attachments }) => attachments).map((file) => [file.id, file]));
  for (const file of used.values()) insertStoredFile(tx, viewer.tenantId, file);
  await checkQuota(tx, viewer.tenantId, platform.config.TENANT_QUOTA_BYTES, 0);
  return queue(run, tx, data, mails);
}

/** Queues mails. Returns their number. */
async function queue(
  run: ActionRun<EmailData>,
  tx: Transaction,
  { subject, body, format }: EmailData,
  mails: readonly AddressedMail[],
): Promise<number> {
  const { platform, viewer } = run.ctx;
  const sender = { kind: 'job', id: run.job.id, tenantId: viewer.tenantId, ownerId: viewer.userId } as const;
  await checkMailLimits(tx, sender, mails);
  const text = format === 'html' ? { text: htmlToText(body), html: body } : { text: body };
  await queueMails(
    platform,
    tx,
    { tenantId: viewer.tenantId, source: sourceOf(run.runId, run), senderId: viewer.userId, subject, ...text },
    mails,
  );
  run.signal.throwIfAborted();
  return mails.length;
}

/** Returns the source of the mails of an action in one run. */
const sourceOf = (runId: string, { action }: ActionRun): string => `job:${runId}:${action.id}`;

/**
 * Returns whether an attempt of this run has queued the mails, or an earlier run that this one continues, in which the
 * action did not succeed because its worker died afterwards.
 */
async function isRepeated(tx: Transaction, run: ActionRun<EmailData>): Promise<boolean> {
  const succeeded = [{ task: { key: `action:${run.action.id}` }, result: { success: true } }];
  const earlier = await tx.query<{ id: string }>({
    text: `
      with recursive chain as (
        select retry_of_id as id from dws.job_run where tenant_id = $1 and id = $2
        union
        select r.retry_of_id from chain c join dws.job_run r on r.tenant_id = $1 and r.id = c.id
      )
      select r.id
      from chain c
      join dws.job_run r on r.tenant_id = $1 and r.id = c.id
      where not r.history @> $3`,
    values: [run.ctx.viewer.tenantId, run.runId, JSON.stringify(succeeded)],
  });
  return hasQueuedMails(tx, [sourceOf(run.runId, run), ...earlier.map(({ id }) => sourceOf(id, run))]);
}

function logOutcome({ log }: ActionRun, { disabled, withoutAddress }: MailRecipients, { count, exports }: Sent): void {
  log(count === undefined ? 'An earlier attempt has queued the mails' : `Mails queued: ${count}`);
  if (disabled > 0) log(`Left out, as they are disabled: ${disabled}`);
  if (withoutAddress > 0) log(`Left out, as they have no e-mail address: ${withoutAddress}`);
  if (exports && exports.withoutAccess > 0) log(`Left out, as they may not read the data: ${exports.withoutAccess}`);
  if (exports && exports.withoutFields > 0)
    log(`Left out, as they do not see the fields of the export: ${exports.withoutFields}`);
}

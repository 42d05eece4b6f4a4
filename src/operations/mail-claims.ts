import type { MailedRows } from '../../entities/mail.ts';
import type { Waiting, WaitingUser } from '../adapters/queue/dispatcher.ts';
import type { Platform } from '../core/platform.ts';
import { isActive } from '../services/resource/active-user.ts';
import type { AttachedFile } from '../services/resource/mail.ts';

/** A claimed mail. */
export interface DueMail extends Record<string, unknown> {
  id: string;
  to: string;
  subject: string;
  sealedText: string;
  sealedHtml: string | null;
  attempts: number;
  traceparent: string | null;
  files: AttachedFile[];
  tenantId: string;
  /** The user who gets the mail. Null for an address only. */
  recipientId: string | null;
  /** Why the recipient may not get the mail. Null if they may. */
  refusal: string | null;
  rowsOf: MailedRows[];
}

/**
 * SQL for the reason why the recipient of a mail may no longer get it, e.g. because they changed since it was queued. Null
 * for an address only.
 */
const REFUSAL = `
  case when mail.to_user and not exists (select from dws.app_user u where u.id = mail.user_id)
    then 'The recipient was deleted'
  else (
    select case
      when not (${isActive('u')}) then 'The recipient is disabled or locked'
      when lower(u.email) is distinct from lower(mail.recipient) then 'The e-mail address of the recipient has changed'
    end
    from dws.app_user u
    where mail.to_user and u.id = mail.user_id
  ) end`;

/** The owner of the jobs and apps that send a mail. */
const SENDER = `coalesce(sender_id, tenant_id)`;

const IS_WAITING = `status = 'queued' and claimed_at is null and (expires_at is null or expires_at > now())`;

/** Lists the owners of jobs and apps whose mails wait, first the one whose mail has been due for longest. */
export async function listMailSenders({ system }: Pick<Platform, 'system'>): Promise<Waiting<WaitingUser>> {
  const rows = await system.query<{ tenantId: string; userId: string; inMs: number }>({
    text: `
      select tenant_id as "tenantId", ${SENDER} as "userId",
        (extract(epoch from min(next_attempt_at) - now()) * 1000)::float8 as "inMs"
      from dws.mail
      where ${IS_WAITING} and source is not null
      group by next_attempt_at > now(), 1, 2
      order by min(next_attempt_at)`,
  });
  const next = rows.find(({ inMs }) => inMs > 0);
  return { users: rows.filter(({ inMs }) => inMs <= 0), nextInMs: next ? Math.ceil(next.inMs) : null };
}

/** Claims the mail that has been due for longest and is of no job or app, so that no other process sends it. */
export const claimMail = (platform: Pick<Platform, 'system'>): Promise<DueMail | null> =>
  claim(platform, 'source is null', []);

/** Claims the mail of a job or an app of an owner that has been due for longest. */
export const claimMailOf = (
  platform: Pick<Platform, 'system'>,
  { tenantId, userId }: WaitingUser,
): Promise<DueMail | null> =>
  claim(platform, `source is not null and tenant_id = $1 and ${SENDER} = $2`, [tenantId, userId]);

async function claim(
  { system }: Pick<Platform, 'system'>,
  condition: string,
  values: unknown[],
): Promise<DueMail | null> {
  const [mail] = await system.query<DueMail>({
    text: `update dws.mail
      set claimed_at = now(), attempts = attempts + 1, version = version + 1, updated_at = now()
      where id = (
        select id from dws.mail
        where ${IS_WAITING} and next_attempt_at <= now() and ${condition}
        order by next_attempt_at, id
        limit 1
        for update skip locked
      )
      returning id, recipient as "to", subject, sealed_text as "sealedText", sealed_html as "sealedHtml", attempts,
        traceparent, tenant_id as "tenantId", user_id as "recipientId", rows_of as "rowsOf", ${REFUSAL} as refusal, coalesce((
          select jsonb_agg(
            jsonb_build_object(
              'id', f.id, 'filename', f.filename, 'contentType', f.content_type, 'size', f.size
            ) order by a.position
          )
          from dws.mail_attachment a
          join dws.stored_file f on f.id = a.file_id
          where a.mail_id = mail.id
        ), '[]') as files`,
    values,
  });
  return mail ?? null;
}

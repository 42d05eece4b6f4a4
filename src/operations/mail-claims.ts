import type { Platform } from '../core/platform.ts';
import type { AttachedFile } from '../services/resource/mail.ts';

/** A claimed mail. */
export interface DueMail extends Record<string, unknown> {
  id: string;
  to: string;
  subject: string;
  sealedText: string;
  sealedHtml: string | null;
  attempts: number;
  /** Whether a job sent it. */
  isOfJob: boolean;
  traceparent: string | null;
  files: AttachedFile[];
}

/** The due mails that one process claims. */
interface MailClaims {
  /** Claims a mail. Returns undefined if no mail is due, or only mails of jobs and enough of these are being sent. */
  claim(): Promise<DueMail | undefined>;
  /** Ends the work on a claimed mail. */
  release(mail: DueMail): void;
}

/** Lets the senders of one process claim due mails, at any time at most `maxOfJobs` of jobs. */
export function createMailClaims(platform: Pick<Platform, 'system'>, maxOfJobs: number): MailClaims {
  let ofJobs = 0;
  return {
    async claim() {
      const withJobs = ofJobs < maxOfJobs;
      // Before the mail is known, as another sender may claim one meanwhile.
      if (withJobs) ofJobs++;
      let mail: DueMail | undefined;
      try {
        mail = await claimDueMail(platform, withJobs);
      } finally {
        if (withJobs && !mail?.isOfJob) ofJobs--;
      }
      return mail;
    },
    release({ isOfJob }) {
      if (isOfJob) ofJobs--;
    },
  };
}

/**
 * Claims the mail that has been due for longest, so that no other process sends it. Mails of jobs and apps come last, because they
 * are many and others wait for e.g. a new password.
 */
async function claimDueMail({ system }: Pick<Platform, 'system'>, withJobs: boolean): Promise<DueMail | undefined> {
  const [mail] = await system.query<DueMail>({
    text: `update dws.mail
      set claimed_at = now(), attempts = attempts + 1, version = version + 1, updated_at = now()
      where id = (
        select id from dws.mail
        where status = 'queued' and claimed_at is null and next_attempt_at <= now()
          and (expires_at is null or expires_at > now()) and (source is null or $1)
        order by (source is not null), next_attempt_at, id
        limit 1
        for update skip locked
      )
      returning id, recipient as "to", subject, sealed_text as "sealedText", sealed_html as "sealedHtml", attempts,
        source is not null as "isOfJob", traceparent, coalesce((
          select jsonb_agg(
            jsonb_build_object(
              'id', f.id, 'filename', f.filename, 'contentType', f.content_type, 'size', f.size
            ) order by a.position
          )
          from dws.mail_attachment a
          join dws.stored_file f on f.id = a.file_id
          where a.mail_id = mail.id
        ), '[]') as files`,
    values: [withJobs],
  });
  return mail;
}

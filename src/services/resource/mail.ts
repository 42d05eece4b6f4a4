import { Mail, type MailedRows } from '../../../entities/mail.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { currentTraceparent } from '../../core/tracing.ts';
import type { Viewer } from '../../core/viewer.ts';

/** Error of a mail whose recipient has no address. */
const NO_ADDRESS = 'The user has no e-mail address: an operator must hand the mail over';

interface NewMail {
  tenantId: string;
  /** The recipient. */
  user: { id: string; username: string; email?: string | null };
  subject: string;
  text: string;
  html?: string | null;
  /** Time after which the mail is not sent. */
  expiresAt?: Date;
  /** Why an operator must hand the mail over although the user has an address. */
  withheld?: string | undefined;
}

/**
 * Adds a mail to the outbox in the transaction of the change that causes it. Workers send it after the commit. Returns
 * its id. See docs/contract/people.md#mail.
 */
export function queueMail(
  { secrets }: Pick<Platform, 'secrets'>,
  tx: Transaction,
  { tenantId, user, subject, text, html, expiresAt, withheld }: NewMail,
): string {
  const error = user.email ? withheld : NO_ADDRESS;
  const mail = newRow(Mail, {
    tenantId,
    userId: user.id,
    toUser: true,
    to: user.email || user.username,
    subject,
    sealedText: secrets.seal(text),
    sealedHtml: html ? secrets.seal(html) : null,
    expiresAt: expiresAt ?? null,
    traceparent: currentTraceparent(),
    ...(error !== undefined && { status: 'failed', error }),
  });
  return tx.insert(mail).id;
}

/** A file in the file store that mails attach. */
export interface AttachedFile {
  id: string;
  filename: string;
  contentType: string;
  size: number;
}

/** One of several mails with the same text. */
export interface AddressedMail {
  /** Id of the recipient. Null for an address only. */
  userId: string | null;
  to: string;
  attachments: readonly AttachedFile[];
  /** The attached rows that the user must still see when the mail is sent. Default: none. */
  rowsOf?: MailedRows[];
}

/** The common content of several mails. */
interface MailContent extends Pick<NewMail, 'tenantId' | 'subject' | 'text' | 'html'> {
  /** The source of the mails: their cause. */
  source: string;
  /** The user or team that the mails are sent for. */
  senderId: string;
}

/** Number of mails that one statement writes. */
const MAILS_PER_WRITE = 50;

/**
 * Returns whether one of these sources has caused mails. Until the transaction ends, other calls for the first source
 * wait.
 */
export async function hasQueuedMails(tx: Transaction, sources: readonly [string, ...string[]]): Promise<boolean> {
  lockKey(tx, `mail:${sources[0]}`);
  return (await tx.count(Mail, { sql: 'r.source = any(?)', params: [sources] })) > 0;
}

/**
 * Adds mails with the same text to the outbox. The rows of their files must exist. For a source that is repeated call
 * `hasQueuedMails` first, in the same transaction, so that none is sent twice.
 */
export async function queueMails(
  { secrets }: Pick<Platform, 'secrets'>,
  tx: Transaction,
  { tenantId, source, senderId, subject, text, html }: MailContent,
  mails: readonly AddressedMail[],
): Promise<void> {
  const [sealedText, sealedHtml] = [secrets.seal(text), html ? secrets.seal(html) : null];
  for (let start = 0; start < mails.length; start += MAILS_PER_WRITE) {
    const files = mails.slice(start, start + MAILS_PER_WRITE).flatMap(({ userId, to, attachments, rowsOf = [] }) => {
      const row = newRow(Mail, {
        tenantId,
        userId,
        toUser: userId !== null,
        to,
        rowsOf,
        subject,
        sealedText,
        sealedHtml,
        source,
        senderId,
        attachments: attachments.map(({ filename, contentType, size }) => ({ filename, contentType, size })),
        traceparent: currentTraceparent(),
      });
      const { id } = tx.insert(row);
      return attachments.map((file, position) => ({ mail: id, file: file.id, position }));
    });
    await insertAttachments(tx, tenantId, files);
  }
}

/** Links mails to their files, after the rows that the transaction has inserted. */
const insertAttachments = (tx: Transaction, tenantId: string, files: readonly object[]): Promise<unknown> =>
  tx.query({
    text: `
      insert into dws.mail_attachment (tenant_id, mail_id, file_id, position)
      select $1, mail, file, position
      from jsonb_to_recordset($2) as a (mail uuid, file uuid, position int)`,
    values: [tenantId, JSON.stringify(files)],
  });

/** The recipient of a stored mail; `user` is null if they were deleted. */
export interface MailRecipient {
  user: { id: string; superuser: boolean } | null;
}

/** Matches the path of a link that sets a password, up to the end of its secret. */
const RESET_LINK = /(\/password-reset\/)[\w-]+/g;

/** Returns a text with the secrets of its password links replaced by dots. */
export const maskResetLinks = (text: string): string => text.replace(RESET_LINK, '$1••••');

/**
 * Decrypts a text of a stored mail. Returns null if the key is no longer in `APP_SECRET`. A password link lets its
 * reader act as the recipient, so links that the viewer must not use are masked. These are links to other superusers
 * and deleted users, links to the viewer unless they have a session, and all links for apps and for a token without the
 * scope `write`. See docs/contract/people.md#mail.
 */
export function readMailText(
  { secrets, log }: Pick<Platform, 'secrets' | 'log'>,
  viewer: Viewer,
  { user }: MailRecipient,
  sealed: string,
): string | null {
  const text = unseal({ secrets, log }, sealed);
  return text === null || canSeeLinks(viewer, user) ? text : maskResetLinks(text);
}

function canSeeLinks(viewer: Viewer, user: MailRecipient['user']): boolean {
  if (!user || !viewer.scopes.has('write') || viewer.authMethod === 'app') return false;
  return user.id === viewer.userId ? viewer.authMethod === 'session' : !user.superuser;
}

function unseal({ secrets, log }: Pick<Platform, 'secrets' | 'log'>, sealed: string): string | null {
  try {
    return secrets.open(sealed, 'a mail');
  } catch (error) {
    log.warn({ err: error }, 'Decrypting a mail failed');
    return null;
  }
}

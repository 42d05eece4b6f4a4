import { Mail } from '../../../entities/mail.ts';
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
 * its id. See docs/contract.md#mail.
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

/** The recipient of a stored mail; `user` is null if they were deleted. */
export interface MailRecipient {
  user: { id: string; superuser: boolean } | null;
}

/** Matches the path of a link that sets a password, up to the end of its secret. */
const RESET_LINK = /(\/password-reset\/)[\w-]+/g;

/** Returns a text with the secrets of its password links replaced by dots. */
export const maskResetLinks = (text: string): string => text.replace(RESET_LINK, '$1••••');

/**
 * Decrypts a text of a stored mail. Returns null if the key is no longer in `APP_SECRET`. Masks password links that the
 * viewer must not use: those to other superusers and deleted users, those to the viewer unless they have a session, and
 * all links for a token without the scope `write`. A link lets its reader act as the recipient. See
 * docs/contract.md#mail.
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
  if (!user || !viewer.scopes.has('write')) return false;
  return user.id === viewer.userId ? viewer.authMethod === 'session' : !user.superuser;
}

function unseal({ secrets, log }: Pick<Platform, 'secrets' | 'log'>, sealed: string): string | null {
  try {
    return secrets.open(sealed);
  } catch (error) {
    log.warn({ err: error }, 'Decrypting a mail failed');
    return null;
  }
}

import { Mail } from '../../../entities/mail.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** Why a mail without an address is not sent. */
const NO_ADDRESS = 'The user has no e-mail address: an operator must hand the mail over';

export interface NewMail {
  tenantId: string;
  /** The user it is for, with the address if there is one. */
  user: { id: string; username: string; email?: string | null };
  subject: string;
  text: string;
  html?: string | null;
  /** When it is of no more use and not sent any longer. */
  expiresAt?: Date;
}

/** Puts a mail into the outbox, in the transaction of what causes it; workers send it after the commit. Answers its id. */
export function post(
  { secrets }: Pick<Platform, 'secrets'>,
  tx: Transaction,
  { tenantId, user, subject, text, html, expiresAt }: NewMail,
): string {
  const mail = tx.em.create(
    Mail,
    {
      tenantId,
      userId: user.id,
      to: user.email || user.username,
      subject,
      sealedText: secrets.seal(text),
      sealedHtml: html ? secrets.seal(html) : null,
      expiresAt: expiresAt ?? null,
      ...(!user.email && { status: 'failed', error: NO_ADDRESS }),
    },
    { partial: true },
  );
  tx.em.persist(mail);
  return mail.id;
}

/** What decides about the links of a stored mail: whom it is for. */
export interface Recipient {
  user: { id: string; superuser: boolean } | null;
}

/** The path of a link that sets a password; the rest of it is the secret. */
const SECRET_LINK = /(\/password-reset\/)[\w-]+/g;

/** A text without the secrets of its links. */
export const withoutSecrets = (text: string): string => text.replace(SECRET_LINK, '$1••••');

/**
 * A text of a stored mail as the viewer may see it; null when it was sealed under a key that the service no longer has. Whoever holds a reset link
 * becomes its user, so links are masked where that would be more than the viewer is already: those of other superusers (contract 9) and of users that
 * are gone, the viewer's own without a session, and all of them from a token that may only read.
 */
export function readableText(
  { secrets, log }: Pick<Platform, 'secrets' | 'log'>,
  viewer: Viewer,
  { user }: Recipient,
  sealed: string,
): string | null {
  const text = opened({ secrets, log }, sealed);
  return text === null || maySeeLinks(viewer, user) ? text : withoutSecrets(text);
}

function maySeeLinks(viewer: Viewer, user: Recipient['user']): boolean {
  if (!user || !viewer.scopes.has('write')) return false;
  return user.id === viewer.userId ? viewer.authMethod === 'session' : !user.superuser;
}

function opened({ secrets, log }: Pick<Platform, 'secrets' | 'log'>, sealed: string): string | null {
  try {
    return secrets.open(sealed);
  } catch (error) {
    log.warn({ err: error }, 'A mail could not be opened');
    return null;
  }
}

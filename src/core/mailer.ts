import type { Readable } from 'node:stream';

/** A file to attach. */
export interface OutgoingAttachment {
  filename: string;
  contentType: string;
  /** The bytes. They are not read before they are sent. */
  content: Readable;
}

/** A mail to send. */
interface OutgoingMail {
  /** Becomes the Message-ID, so that mail programs recognize a mail that arrives twice. */
  id: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html?: string | null;
  attachments?: readonly OutgoingAttachment[];
}

/** Sends mail by a mail server. */
export interface Mailer {
  /**
   * Resolves once the server has accepted the mail. Throws `MailRefused` when it never will, `MailUnconfirmed` when the
   * server has the mail but did not confirm it, and any other error when a later attempt may succeed.
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}

/** The server refuses the mail permanently. */
export class MailRefused extends Error {}

/** The server received the whole mail and did not confirm it. It is unknown whether it delivers the mail. */
export class MailUnconfirmed extends Error {}

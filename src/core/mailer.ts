/** A mail on its way out. `id` makes its Message-ID, so that one which arrives twice is known for the same. */
export interface OutgoingMail {
  id: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html?: string | null;
}

/** Hands mail to a server that delivers it. */
export interface Mailer {
  /** Resolves once the server has taken the mail. Throws `MailRefused` when it never will, any other error when a later attempt may succeed. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}

/** The server will not take this mail, however often it is sent. */
export class MailRefused extends Error {}

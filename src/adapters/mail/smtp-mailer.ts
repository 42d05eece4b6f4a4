import { createTransport } from 'nodemailer';
import { MailRefused, type Mailer } from '../../core/mailer.ts';

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. STARTTLS is used where it is offered. */
  url: string;
  /** The sender, e.g. `Data Workspace <workspace@example.com>`. */
  from: string;
  /** What stands behind the @ of Message-IDs. */
  host: string;
}

/** Milliseconds of silence after which the server counts as away. */
const CONNECTING = 10_000;
const ANSWERING = 20_000;

/** Sends by SMTP, one connection a mail. Nothing of a mail makes it read files or fetch addresses. */
export function smtpMailer({ url, from, host }: SmtpOptions): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECTING,
    greetingTimeout: CONNECTING,
    dnsTimeout: CONNECTING,
    socketTimeout: ANSWERING,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id, to, subject, text, html }, signal) {
      const headers = { 'Auto-Submitted': 'auto-generated' };
      try {
        // As an object the address is taken as it is; as a text it might be read as several.
        await transport.sendMail({
          messageId: `<${id}@${host}>`,
          from,
          to: { name: '', address: to },
          subject,
          text,
          ...(html && { html }),
          headers,
          signal,
        });
      } catch (error) {
        throw isRefusal(error as SmtpError) ? new MailRefused((error as Error).message, { cause: error }) : error;
      }
    },
  };
}

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
}

/** 5yz refuses the mail for good (RFC 5321, 4.2.1); 503 and refused logins are about the connection and our settings, which may be better next time. */
const isRefusal = ({ code, responseCode = 0 }: SmtpError): boolean =>
  code !== 'EAUTH' && responseCode >= 500 && responseCode !== 503;

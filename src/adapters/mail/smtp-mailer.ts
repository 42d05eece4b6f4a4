import { createTransport } from 'nodemailer';
import { MailRefused, MailUnconfirmed, type Mailer, type OutgoingAttachment } from '../../core/mailer.ts';

interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password where the server requires them. Uses STARTTLS where offered. */
  url: string;
  /** Sender, e.g. `Data Workspace <workspace@example.com>`. */
  from: string;
  /** Domain of Message-IDs. */
  host: string;
}

/** Time without a response after which a server counts as unavailable. */
const CONNECT_TIMEOUT_MS = 10_000;
const RESPONSE_TIMEOUT_MS = 45_000;

/** Returns a mailer that sends by SMTP, one connection per mail. The content of a mail never reads files or URLs. */
export function createSmtpMailer({ url, from, host }: SmtpOptions): Mailer {
  const { transport, written } = createRecordingTransport(url);
  return {
    async send({ id, to, subject, text, html, attachments = [] }, signal) {
      const messageId = `<${id}@${host}>`;
      const headers = { 'Auto-Submitted': 'auto-generated' };
      try {
        await transport.sendMail({
          messageId,
          from,
          // An object is one address; a text could be parsed as several.
          to: { name: '', address: to },
          subject,
          text,
          ...(html && { html }),
          attachments: attachments.map(toAttachment),
          headers,
          signal,
        });
      } catch (error) {
        const { message, responseCode } = error as SmtpError;
        if (isRefusal(error as SmtpError)) throw new MailRefused(message, { cause: error });
        if (responseCode === undefined && written.has(messageId)) throw new MailUnconfirmed(message, { cause: error });
        throw error;
      } finally {
        written.delete(messageId);
      }
    },
  };
}

/** Encodes the bytes in Base64, whatever their type: programs change the line ends of other encodings. */
const toAttachment = ({ filename, contentType, content }: OutgoingAttachment) => ({
  filename,
  content,
  // Parts of these types are not encoded, and their content would have to be a mail.
  contentType: /^(?:message|multipart)\//i.test(contentType) ? 'application/octet-stream' : contentType,
  contentDisposition: 'attachment' as const,
  contentTransferEncoding: 'base64' as const,
});

/** Creates a transport, with the ids of the mails whose last byte was read for the connection. */
function createRecordingTransport(url: string) {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: RESPONSE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const written = new Set<string>();
  transport.use('stream', ({ data, message }, done) => {
    message.processFunc((content) => content.once('end', () => written.add(data.messageId as string)));
    done();
  });
  return { transport, written };
}

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
}

/**
 * Returns whether the server refuses the mail permanently: 5yz (RFC 5321, 4.2.1), except 503 and refused logins, which
 * concern the connection and the service's settings.
 */
const isRefusal = ({ code, responseCode = 0 }: SmtpError): boolean =>
  code !== 'EAUTH' && responseCode >= 500 && responseCode !== 503;

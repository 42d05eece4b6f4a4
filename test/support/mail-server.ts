import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A received mail. */
interface Received {
  from: string;
  to: string[];
  /** Headers by lower-case name. */
  headers: Map<string, string>;
  /** Decoded text with plain line ends. */
  text: string;
}

/** A real SMTP server on loopback that stores what it receives. */
export interface MailServer {
  url: string;
  received: Received[];
  /** Called with each mail; an error that it throws becomes the server's reply, with `responseCode`. */
  judge: (mail: Received) => void | Promise<void>;
  /** Ends all connections without a reply. */
  disconnect(): void;
  close(): Promise<void>;
}

/** Starts a server. By default it accepts plain SMTP without authentication. */
export async function startMailServer(
  options: SMTPServerOptions = { authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] },
): Promise<MailServer> {
  const server = new SMTPServer({
    ...options,
    logger: false,
    closeTimeout: 1000,
    onData(stream, { envelope }, answer) {
      text(stream)
        .then(async (raw) => {
          const mail = parse(
            raw,
            envelope.mailFrom ? envelope.mailFrom.address : '',
            envelope.rcptTo.map(({ address }) => address),
          );
          await mails.judge(mail);
          mails.received.push(mail);
        })
        .then(() => answer(), answer);
    },
  });
  // Some tests are about clients that disconnect.
  server.on('error', () => {});
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mails: MailServer = {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received: [],
    judge() {},
    disconnect() {
      for (const socket of sockets) socket.destroy();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mails;
}

/** Creates a refusal with an SMTP code. */
export const refusal = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });

/** Parses a mail of one part: headers, and quoted-printable where declared. */
function parse(raw: string, from: string, to: string[]): Received {
  const split = raw.indexOf('\r\n\r\n');
  const headers = new Map(
    raw
      .slice(0, split)
      .replace(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line): [string, string] => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
  );
  const body = raw.slice(split + 4);
  const quoted = headers.get('content-transfer-encoding') === 'quoted-printable';
  const decoded = quoted
    ? Buffer.from(
        body
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      ).toString('utf8')
    : body;
  return { from, to, headers, text: decoded.replaceAll('\r\n', '\n') };
}

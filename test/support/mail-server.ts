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
  /** Decoded HTML, if there is some. */
  html?: string;
  attachments: ReceivedFile[];
  /** All bytes, as they were received. */
  raw: string;
}

interface ReceivedFile {
  filename: string;
  contentType: string;
  bytes: Buffer;
}

/** A real SMTP server on loopback that stores what it receives. */
export interface MailServer {
  url: string;
  received: Received[];
  /** Called with each mail; an error that it throws becomes the server's reply, with `responseCode`. */
  judge: (mail: Received) => void | Promise<void>;
  /** Called with the first bytes of each mail. */
  begin: () => void;
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
      stream.once('data', () => mails.begin());
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
    begin() {},
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

/** A part of a mail: headers by lower-case name, and the body as it was received. */
interface Part {
  headers: Map<string, string>;
  body: string;
}

/** Parses a mail: its texts and files. */
function parse(raw: string, from: string, to: string[]): Received {
  const mail = parsePart(raw);
  const received: Received = { from, to, headers: mail.headers, text: '', attachments: [], raw };
  for (const part of leavesOf(mail)) {
    const contentType = part.headers.get('content-type')?.split(';')[0] ?? 'text/plain';
    const filename = filenameOf(part.headers.get('content-disposition') ?? '');
    if (filename !== undefined) received.attachments.push({ filename, contentType, bytes: decode(part) });
    else if (contentType === 'text/html') received.html = textOf(part);
    else received.text = textOf(part);
  }
  return received;
}

function parsePart(raw: string): Part {
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
  return { headers, body: raw.slice(split + 4) };
}

function leavesOf(part: Part): Part[] {
  const boundary = /^multipart\/.*boundary="?([^";]+)/.exec(part.headers.get('content-type') ?? '')?.[1];
  if (boundary === undefined) return [part];
  return `\r\n${part.body}`
    .split(`\r\n--${boundary}`)
    .slice(1, -1)
    .flatMap((raw) => leavesOf(parsePart(raw.slice(2))));
}

/** Returns the name of an attached file, undefined for a text. */
function filenameOf(disposition: string): string | undefined {
  const [, encoded] = /filename\*0?\*?=utf-8''([^;]*)/.exec(disposition) ?? [];
  return encoded === undefined ? /filename="?([^";]*)/.exec(disposition)?.[1] : decodeURIComponent(encoded);
}

function decode({ headers, body }: Part): Buffer {
  const encoding = headers.get('content-transfer-encoding');
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body);
  return Buffer.from(
    body
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

const textOf = (part: Part): string => decode(part).toString().replaceAll('\r\n', '\n');

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Starts a TCP server on loopback, runs `work` with its port, and stops the server. */
export async function withServer<T>(
  onConnection: (socket: Socket) => void,
  work: (port: number) => Promise<T>,
): Promise<T> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
  }
}

/** Handles a connection: accepts every login, collects what is sent, and responds to the first query. */
export const respondToQuery =
  (respond: (socket: Socket) => void, sent: Buffer[] = []) =>
  (socket: Socket) => {
    socket.write(greetingOf('8.0.36'));
    let hasLogin = false;
    let hasQuery = false;
    socket.on('data', (chunk) => {
      sent.push(chunk);
      if (!hasLogin) socket.write(packetOf(2, Buffer.from([0, 0, 0, 2, 0, 0, 0])));
      else if (!hasQuery) respond(socket);
      hasQuery ||= hasLogin;
      hasLogin = true;
    });
  };

/** Creates a packet of MySQL's protocol. */
export function packetOf(sequence: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUIntLE(body.length, 0, 3);
  header[3] = sequence;
  return Buffer.concat([header, body]);
}

/** Creates the first packet of a server: no encryption, native passwords. */
export function greetingOf(version: string): Buffer {
  const capabilities = 0x8_a209;
  const body = Buffer.concat([
    Buffer.from([10]),
    Buffer.from(`${version}\0`),
    Buffer.from([7, 0, 0, 0]),
    Buffer.from('12345678\0'),
    Buffer.from([capabilities & 0xff, (capabilities >> 8) & 0xff, 45, 2, 0, (capabilities >> 16) & 0xff, 0, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0'),
    Buffer.from('mysql_native_password\0'),
  ]);
  return packetOf(0, body);
}

/** Creates the definition of a text column. */
export function columnDefinition(name: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat([
    text('def'),
    text(''),
    text(''),
    text(''),
    text(name),
    text(''),
    Buffer.from([0x0c, 45, 0, 80, 0, 0, 0, 253, 0, 0, 0, 0, 0]),
  ]);
}

/** Sends bytes again and again until the socket is closed. */
export function flood(socket: Socket, bytes: Buffer): void {
  const send = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', send);
  send();
}

/**
 * Load generator: sends requests on several connections for some seconds and prints the `Outcome` as one line of JSON.
 * `node bench/load.ts '<Load as JSON>'`, in its own process so that its CPU is not counted elsewhere.
 */
import net from 'node:net';

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** Whole HTTP/1.1 requests as text, sent in turn. */
  requests: string[];
}

export interface Outcome {
  answers: number;
  /** Number of responses with a status other than 200. */
  failures: number;
  bytes: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

async function run({ port, connections, seconds, requests }: Load): Promise<Outcome> {
  const took: number[] = [];
  let failures = 0;
  let bytes = 0;
  let next = 0;
  const begin = performance.now();
  const end = begin + seconds * 1000;

  const keepBusy = () =>
    new Promise<void>((done, failed) => {
      const socket = net.connect(port, '127.0.0.1').setNoDelay(true);
      let sentAt = 0;
      let received = Buffer.alloc(0);
      let whole = -1;
      const send = () => {
        if (performance.now() >= end) return void socket.end(done);
        sentAt = performance.now();
        socket.write(requests[next++ % requests.length]!);
      };
      socket
        .once('connect', send)
        .once('error', failed)
        .once('close', () => done())
        .on('data', (data) => {
          received = received.length > 0 ? Buffer.concat([received, data]) : data;
          const head = whole < 0 ? received.indexOf(HEAD_END) : -1;
          if (head >= 0) {
            const text = received.toString('latin1', 0, head);
            const length = /content-length: *(\d+)/i.exec(text);
            if (!length) return failed(new Error(`An answer without a length: ${text}`));
            if (!text.startsWith('HTTP/1.1 200')) failures++;
            whole = head + HEAD_END.length + Number(length[1]);
          }
          if (whole < 0 || received.length < whole) return;
          bytes += whole;
          received = received.subarray(whole);
          whole = -1;
          took.push(performance.now() - sentAt);
          send();
        });
    });
  await Promise.all(Array.from({ length: connections }, keepBusy));
  took.sort((a, b) => a - b);
  const at = (part: number): number => took[Math.floor(took.length * part)] ?? 0;
  return {
    answers: took.length,
    failures,
    bytes,
    seconds: (performance.now() - begin) / 1000,
    p50: at(0.5),
    p99: at(0.99),
  };
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!) as Load)));

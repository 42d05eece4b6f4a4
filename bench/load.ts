/**
 * Load generator: sends requests on several connections for some seconds and prints the `Outcome` as one line of JSON.
 * `node bench/load.ts '<Load as JSON>'`, in its own process so that its CPU is not counted elsewhere.
 */
import { spawn } from 'node:child_process';
import net from 'node:net';
import { text } from 'node:stream/consumers';

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** Whole HTTP/1.1 requests as text, sent in turn. */
  requests: string[];
  /**
   * True if the requests are steps on one resource that each connection takes by itself, in this order and to the end:
   * `NEW_SLUG` in them stands for an unused slug, `NEW_ID` for the first id in the response to the first step.
   */
  cycle?: boolean;
}

/** As long as what replaces them, so that the length of a request does not change. */
export const NEW_ID = '00000000-0000-0000-0000-000000000000';
export const NEW_SLUG = 'new-00000000';

export interface Outcome {
  answers: number;
  /** Number of responses with a status other than 2xx or, in a cycle, with GraphQL errors. */
  failures: number;
  bytes: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** Requests of one connection. `next` gets the body of the last response. */
interface Turns {
  mayEnd(): boolean;
  next(body: Buffer): string;
}

/** Returns the source of the turns of each connection. */
function turnsOf({ requests, cycle }: Load): () => Turns {
  let sent = 0;
  if (!cycle) return () => ({ mayEnd: () => true, next: () => requests[sent++ % requests.length]! });
  let slugs = 0;
  return () => {
    let [step, id, slug] = [0, '', ''];
    return {
      mayEnd: () => step === 0,
      next: (body) => {
        if (step === 0) slug = `new-${String(++slugs).padStart(8, '0')}`;
        if (step === 1) id = /"id" *: *"([0-9a-f-]{36})"/.exec(body.toString())?.[1] ?? 'no id in the response';
        const request = requests[step]!.replaceAll(NEW_ID, id).replaceAll(NEW_SLUG, slug);
        step = (step + 1) % requests.length;
        return request;
      },
    };
  };
}

async function run(load: Load): Promise<Outcome> {
  const { port, connections, seconds, cycle } = load;
  const turns = turnsOf(load);
  const took: number[] = [];
  let failures = 0;
  let bytes = 0;
  const begin = performance.now();
  const end = begin + seconds * 1000;

  const keepBusy = () =>
    new Promise<void>((done, failed) => {
      const socket = net.connect(port, '127.0.0.1').setNoDelay(true);
      let sentAt = 0;
      let received = Buffer.alloc(0);
      let whole = -1;
      let isFailure = false;
      const turn = turns();
      const send = (body: Buffer) => {
        if (turn.mayEnd() && performance.now() >= end) return void socket.end(done);
        sentAt = performance.now();
        socket.write(turn.next(body));
      };
      socket
        .once('connect', () => send(received))
        .once('error', failed)
        .once('close', () => done())
        .on('data', (data) => {
          received = received.length > 0 ? Buffer.concat([received, data]) : data;
          const head = whole < 0 ? received.indexOf(HEAD_END) : -1;
          if (head >= 0) {
            const start = received.toString('latin1', 0, head);
            const length = start.startsWith('HTTP/1.1 204') ? '0' : /content-length: *(\d+)/i.exec(start)?.[1];
            if (!length) return failed(new Error(`A response without a length: ${start}`));
            isFailure = !start.startsWith('HTTP/1.1 2');
            whole = head + HEAD_END.length + Number(length);
          }
          if (whole < 0 || received.length < whole) return;
          took.push(performance.now() - sentAt);
          bytes += whole;
          const response = received.subarray(0, whole);
          received = received.subarray(whole);
          whole = -1;
          isFailure ||= cycle === true && response.includes('"errors"');
          if (isFailure && failures++ === 0) console.error(response.toString());
          send(response);
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

/** Runs a load in a process of its own. Throws if a request fails. */
export async function sendLoad(load: Load): Promise<Outcome> {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(load)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const outcome = JSON.parse(await text(child.stdout)) as Outcome;
  if (outcome.failures > 0) throw new Error(`${outcome.failures} requests failed`);
  return outcome;
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!) as Load)));

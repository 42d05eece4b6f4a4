import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Client } from './client.ts';

/** A state of an operation, in one form for both APIs. */
export interface Told {
  status: string;
  current: number | null;
  percent: number | null;
}

const told = ({ status, current, percent }: Told): Told => ({ status: status.toLowerCase(), current, percent });

/** Yields the server-sent events of an operation. */
export async function* byEvents(caller: Client, id: string): AsyncGenerator<Told, void, undefined> {
  const { body, status } = await fetch(`${caller.url}/api/progress/${id}/events`, { headers: caller.headers });
  if (status !== 200) throw new Error(`GET /progress/${id}/events: ${status}`);
  let text = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data) yield told(JSON.parse(data) as Told);
    }
  }
}

/** One GraphQL socket of a caller. `closed` resolves with the code that ends it. */
export function openSocket(caller: Client) {
  let end: (code: number) => void;
  const closed = new Promise<number>((resolve) => {
    end = resolve;
  });
  const client = createClient({
    url: `${caller.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: caller.headers['authorization'] },
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => undefined,
    on: { closed: (event) => end((event as { code: number }).code) },
  });
  return {
    closed,
    dispose: () => client.dispose(),
    iterate: <T>(query: string, variables: Record<string, unknown>) => client.iterate<T>({ query, variables }),
  };
}

/** Yields the same operation by a subscription over a socket. */
export async function* bySocket(caller: Client, id: string): AsyncGenerator<Told, void, undefined> {
  const socket = openSocket(caller);
  try {
    for await (const { data, errors } of socket.iterate<{ progress: Told }>(
      `subscription ($id: ID!) { progress(id: $id) { status current percent } }`,
      { id },
    )) {
      if (errors) throw new Error(errors[0]!.message);
      yield told(data!.progress);
    }
  } finally {
    await socket.dispose();
  }
}

/** Returns all states until the final one. */
export async function everything<T>(following: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of following) all.push(one);
  return all;
}

/** Follows until a state matches, and stops. */
export async function first<T>(following: AsyncIterable<T>, fits: (one: T) => boolean): Promise<T> {
  for await (const one of following) if (fits(one)) return one;
  throw new Error('It ended before');
}

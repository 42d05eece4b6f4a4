/** The control API of the fake: `POST /_control/<operation>` with a JSON object, `GET` for its results. */
import type { FakeReply } from './fake-chat.ts';
import type { AiFake, FakeBehavior } from './fake-provider.ts';
import type { ModeName } from './modes.ts';

const OPERATIONS: Record<string, (fake: AiFake, input: never) => unknown> = {
  next: (fake, input: FakeBehavior) => fake.behaviors.push(input),
  reply: (fake, input: FakeReply) => fake.script.push(input),
  mode: (fake, { mode }: { mode: ModeName }) => fake.enter(mode),
  latency: (fake, { ms }: { ms: number }) => (fake.latencyMs = ms),
  calls: ({ calls, counts, leakedKeys }) => ({ ...counts, leakedKeys, calls }),
  provider: ({ provider }) => provider,
  reset: (fake) => fake.reset(),
};

/** Runs an operation. Returns the status and the JSON of the response. */
export function runControl(fake: AiFake, path: string, body: string): [status: number, text: string] {
  const operation = OPERATIONS[path.slice('/_control/'.length)];
  if (!operation) return [404, JSON.stringify({ error: `The operations are ${Object.keys(OPERATIONS).join(', ')}` })];
  return [200, JSON.stringify({ result: operation(fake, JSON.parse(body || '{}') as never) ?? null })];
}

/** The control API of a fake drive: `POST /_control/<operation>` with a JSON object, `GET` for `calls` and `registration`. */
import type { PutOptions } from './drive-tree.ts';
import type { FakeReply, FakeRequest } from './fake-http.ts';
import type { DriveFake, FakeFailure, Quirk } from './fake-server.ts';

interface ControlInput extends PutOptions {
  path: string;
  to: string;
  count: number;
  reason?: string;
  quirk: Quirk;
}

const OPERATIONS: Record<string, (fake: DriveFake, input: ControlInput) => unknown> = {
  put: ({ tree }, { path, ...options }) => tree.put(path, options).id,
  folder: ({ tree }, { path }) => tree.folder(path).id,
  move: ({ tree }, { path, to }) => tree.move(path, to).id,
  trash: ({ tree }, { path }) => tree.trash(path).id,
  restore: ({ tree }, { path }) => tree.restore(tree.order.findLast((item) => tree.pathOf(item) === path)!).id,
  delete: ({ tree }, { path }) => tree.delete(path).id,
  generate: ({ tree }, { count, size }) => tree.generate(count, size ?? 10),
  'close-folder': (fake, { path, reason }) => fake.closeFolder(path, reason ?? null),
  'expire-tokens': ({ authority }) => authority.expireTokens(),
  'refuse-refreshes': ({ authority }, { reason }) =>
    (authority.refusal = reason === undefined ? null : { error: reason }),
  'revoke-all': ({ authority }) => authority.revokeAll(),
  'lose-cursors': (fake) => fake.loseCursors(),
  fail: (fake, input) => fake.fail(input as unknown as FakeFailure),
  quirk: ({ quirks }, { quirk }) => void quirks.add(quirk),
  'page-size': (fake, { count }) => (fake.pageSize = count),
  calls: (fake) => fake.calls,
  registration: (fake) => fake.registration,
};

/** Runs an operation. */
export function runControl(fake: DriveFake, { path, body }: FakeRequest): FakeReply {
  const operation = OPERATIONS[path.slice('/_control/'.length)];
  if (!operation) return { status: 404, text: `The operations are ${Object.keys(OPERATIONS).join(', ')}\n` };
  try {
    return { json: { result: operation(fake, JSON.parse(body || '{}') as ControlInput) ?? null } };
  } catch (error) {
    return { status: 400, text: `${(error as Error).message}\n` };
  }
}

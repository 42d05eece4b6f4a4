/*
 * A process that reserves and settles the credits of AI calls at random, for usage-cap-processes.test.ts. It runs the
 * compiled service: `node credit-worker.ts <folder> <json>`. It prints `{ charged, refused }` at its end, with a line for
 * each charge before.
 */
import { randomUUID } from 'node:crypto';
import type * as database from '../../src/adapters/database/tenant-database.ts';
import type * as sending from '../../src/services/ai/sent-call.ts';
import type * as reservation from '../../src/services/usage/credit-reservation.ts';

export interface WorkerOptions {
  url: string;
  tenantId: string;
  actors: `user:${string}`[];
  callers: number;
  calls: number;
}

const [folder, json] = process.argv.slice(2) as [string, string];
const { url, tenantId, actors, callers, calls } = JSON.parse(json) as WorkerOptions;
const load = (path: string): Promise<unknown> => import(`${folder}/src/${path}.js`);
const { openTenantDatabase } = (await load('adapters/database/tenant-database')) as typeof database;
const { reserveCredits, releaseCredits } = (await load('services/usage/credit-reservation')) as typeof reservation;
const { sendCall, endCall } = (await load('services/ai/sent-call')) as typeof sending;

const tenants = openTenantDatabase(url, 12);
const sleep = (ms: number) => new Promise((wake) => setTimeout(wake, ms));
const owner = { tenantId };
let [charged, refused] = [0, 0];

/** One AI call: reserves, is sent, waits as for a provider, and is charged at most what was reserved, or is refused. */
async function call(): Promise<void> {
  const id = randomUUID();
  const actor = actors[Math.floor(Math.random() * actors.length)]!;
  const cents = 1 + Math.floor(Math.random() * 40);
  const userId = actor.slice('user:'.length);
  const request = { id, actor, payer: userId, credits: (cents / 10).toFixed(6), tier: null };
  try {
    await tenants.transaction(tenantId, (tx) => reserveCredits(tx, owner, request));
  } catch (error) {
    if ((error as { code?: string }).code !== 'CREDITS_SPENT') throw error;
    refused += 1;
    return;
  }
  await sleep(Math.random() * 5);
  if (Math.random() < 0.1) {
    await tenants.transaction(tenantId, async (tx) => releaseCredits(tx, owner, id));
    return;
  }
  const record = {
    id,
    actor,
    userId,
    action: 'image' as const,
    entity: { type: 'user' as const, id: userId },
    provider: { id, name: 'Fake', isOwn: false },
    model: 'fake-image',
    size: null,
    sealedPrompt: '',
  };
  const priceOf = (tenths: number) => ({ dollars: (tenths / 1000).toFixed(3), credits: (tenths / 10).toFixed(6) });
  const sent = { record, price: priceOf(cents), furtherUsage: [], agentRunId: null };
  await tenants.transaction(tenantId, async (tx) => sendCall(tx, owner, { reservationId: id, workId: id }, sent));
  await sleep(Math.random() * 5);
  const state = Math.random() < 0.1 ? 'refused' : 'sent';
  const stated = Math.random() < 0.5 ? null : priceOf(Math.ceil(cents / 2));
  const end = { status: 'succeeded' as const, error: null, state, stated, tokens: null } as const;
  if (await tenants.transaction(tenantId, (tx) => endCall(tx, owner, id, end))) charged += 1;
}

process.stdout.write('started\n');
await Promise.all(
  Array.from({ length: callers }, async () => {
    for (let index = 0; index < calls; index += 1) await call();
  }),
);
await tenants.close();
process.stdout.write(`${JSON.stringify({ charged, refused })}\n`);

/**
 * Calls that change something and are repeated safely, in TypeScript over REST: each has a key of its own, and every attempt
 * sends it again. The first response is lost on purpose. See README.md.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/api.d.ts';

type Failure = components['schemas']['ErrorResponse'];

const { DWS_URL = 'http://127.0.0.1:4000', DWS_TOKEN } = process.env;
if (!DWS_TOKEN) {
  console.error('Set DWS_TOKEN to an API token, as README.md shows');
  process.exit(1);
}

let lost = 0;
/** Loses the first response: the service has received the request, and the client cannot know. */
async function fetchOverBadNetwork(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (lost++ > 0) return response;
  await response.body?.cancel();
  throw new TypeError('The connection was lost');
}

const headers = { authorization: `Bearer ${DWS_TOKEN}` };
const api = createClient<paths>({ baseUrl: DWS_URL, headers, fetch: fetchOverBadNetwork });

const MAX_ATTEMPTS = 5;

interface Outcome<Data> {
  data?: Data;
  error?: Failure;
  response: Response;
}

/**
 * Sends a call until its outcome is known. Repeats it after a lost connection, and after `Retry-After`: the first attempt still
 * runs (409), or the service is busy (429, 503). Throws the error of any other refusal.
 */
async function sendOnce<Data>(
  call: (key: string) => Promise<Outcome<Data>>,
): Promise<{ data: Data; attempts: number }> {
  const key = randomUUID();
  for (let attempts = 1; ; attempts++) {
    const outcome = await call(key).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error;
      return error;
    });
    if (!(outcome instanceof TypeError) && outcome.data !== undefined) return { data: outcome.data, attempts };
    const wait = outcome instanceof TypeError ? 1 : Number(outcome.response.headers.get('retry-after') ?? 0);
    if (attempts === MAX_ATTEMPTS || wait === 0)
      throw outcome instanceof TypeError ? outcome : new Error(`${outcome.error!.statusCode} ${outcome.error!.code}`);
    await setTimeout(wait * 1000);
  }
}

const createTag = (key: string, name: string) =>
  api.POST('/api/tags', { params: { header: { 'Idempotency-Key': key } }, body: { name } });

const { data: tag, attempts } = await sendOnce((key) => createTag(key, 'Quarterly'));
const found = await api.GET('/api/tags', { params: { query: { q: 'Quarterly' } } });
console.log('created', tag.name, 'in', attempts, 'attempts; tags of this name:', found.data!.total);

const key = randomUUID();
await createTag(key, 'Monthly');
const again = await createTag(key, 'Monthly');
console.log('repeated', again.response.status, again.response.headers.get('idempotency-replayed'));
const other = await createTag(key, 'Yearly');
console.log('reused', other.response.status, other.error!.code);

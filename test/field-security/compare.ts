import { expect } from 'vitest';
import type { Twin, TwinWorld } from './fixture.ts';
import { SECRET } from './twin-source.ts';

/** Result of a request to one of the two APIs. */
interface ApiResult {
  status?: number;
  headers?: Headers;
  body?: unknown;
  data?: unknown;
  errors?: unknown;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Times of this run. The times in visible rows are of 2001, those in hidden rows of the years 1 and 9999. */
const OWN_TIME = /20[2-9]\d-\d\d-\d\dT[\d:.]+Z/g;
const CURSOR = /("next":")([^"]+)"|([?&]after=)([^"&]+)/g;
/** Query parameters that links repeat. */
const REPEATED = /([?&](?:q|filter|fields|sort)=)[^"&]*/g;
/** Headers that differ between equal requests. The length depends on durations and compression. */
const VOLATILE_HEADERS = new Set(['date', 'x-request-id', 'keep-alive', 'connection', 'content-length']);

const SECRETS = [
  { what: 'a hidden name or text', pattern: new RegExp(SECRET, 'i') },
  { what: 'a field that differs from a visible one by case', pattern: /"Region"/ },
  { what: 'a hidden number', pattern: /77700\d/ },
  { what: 'the number of all rows, or of the hidden ones', pattern: /(?<![\d.])(12[,. ]?611|12[,. ]?571)(?!\d)/ },
  { what: 'a hidden date', pattern: /\b(0001|9999)-/ },
];

/** Returns a response as text, with placeholders for ids, slugs, names, times, ETags and cursors of a length. */
export function normalize(response: unknown, { id, slug, name }: Pick<Twin, 'id' | 'slug' | 'name'>): string {
  const numbers = new Map<string, number>();
  return JSON.stringify(toReadable(response))
    .replaceAll(id, '<dataset>')
    .replaceAll(slug, '<slug>')
    .replaceAll(name, '<name>')
    .replace(
      CURSOR,
      (_all, key: string | undefined, next: string | undefined, query: string | undefined, after: string | undefined) =>
        key ? `${key}<cursor of ${next!.length}>"` : `${query}<cursor of ${decodeURIComponent(after!).length}>`,
    )
    .replace(REPEATED, '$1<repeated>')
    .replace(UUID, (uuid) => `<id ${numbers.get(uuid) ?? numbers.set(uuid, numbers.size).size - 1}>`)
    .replace(OWN_TIME, '<time>')
    .replace(/"duration":[\d.]+/g, '"duration":"<ms>"');
}

/** Headers as an object, bytes as text. */
function toReadable(response: unknown): unknown {
  if (!(typeof response === 'object' && response !== null && 'headers' in response)) return response;
  const { headers, ...rest } = response as ApiResult;
  const shown = [...(headers instanceof Headers ? headers : [])]
    .filter(([name]) => !VOLATILE_HEADERS.has(name))
    .map(([name, value]) => [name, name === 'etag' ? '<etag>' : value]);
  return { ...rest, headers: Object.fromEntries(shown) };
}

/** Expects a text without hidden parts. Ids must be replaced before: their digits may contain anything. */
export function expectNoSecret(text: string, where = ''): void {
  for (const { what, pattern } of SECRETS) {
    const place = text.search(pattern);
    expect(place === -1 ? null : `${what}: …${text.slice(Math.max(0, place - 60), place + 60)}…`, where).toBeNull();
  }
}

/** Sends a request for both twins and expects equal responses without hidden parts. Returns the first response. */
export async function expectAlike<T>(
  { twins }: Pick<TwinWorld, 'twins'>,
  where: string,
  send: (twin: Twin) => Promise<T>,
): Promise<T> {
  const responses: T[] = [];
  for (const twin of twins) responses.push(await send(twin));
  const [one, other] = responses.map((response, i) => normalize(response, twins[i]!));
  for (const text of [one!, other!]) expectNoSecret(text, where);
  expect(JSON.parse(other!), where).toEqual(JSON.parse(one!));
  return responses[0]!;
}

/** Expects equal responses with status 200 for each of the queries. */
export async function expectAllAlike<Q>(
  world: Pick<TwinWorld, 'twins'>,
  queries: readonly Q[],
  send: (twin: Twin, query: Q) => Promise<{ status: number; body?: unknown }>,
): Promise<void> {
  for (const query of queries) {
    const where = typeof query === 'string' ? query : JSON.stringify(query);
    expect(await expectAlike(world, where, (twin) => send(twin, query)), where).toMatchObject({ status: 200 });
  }
}

import { expect } from 'vitest';
import type { Twin, TwinWorld } from './fixture.ts';
import { SECRET } from './twin-source.ts';

/** What an answer of either channel has. */
interface Answered {
  status?: number;
  headers?: Headers;
  body?: unknown;
  data?: unknown;
  errors?: unknown;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Times of this service's own life; those in the twins' rows are of 2001, the hidden ones of the years 1 and 9999. */
const OWN_TIME = /20[2-9]\d-\d\d-\d\dT[\d:.]+Z/g;
const CURSOR = /("next":")([^"]+)"|([?&]after=)([^"&]+)/g;
/** What the asker said, as links repeat it. */
const ASKED = /([?&](?:q|filter|fields|sort)=)[^"&]*/g;
/** Headers that differ from request to request; a length is that of durations and of compression too. */
const PASSING_HEADERS = new Set(['date', 'x-request-id', 'keep-alive', 'connection', 'content-length']);

const SECRETS = [
  { what: 'a hidden name or text', pattern: new RegExp(SECRET, 'i') },
  { what: 'a field that differs from a visible one by case', pattern: /"Region"/ },
  { what: 'a hidden number', pattern: /77700\d/ },
  { what: 'the number of all rows, or of the hidden ones', pattern: /(?<![\d.])(12[,. ]?611|12[,. ]?571)(?!\d)/ },
  { what: 'a hidden date', pattern: /\b(0001|9999)-/ },
];

/** An answer as text, in which ids, slugs, names, times, ETags and cursors have given way to placeholders. Cursors keep their length. */
export function plain(answer: unknown, { id, slug, name }: Pick<Twin, 'id' | 'slug' | 'name'>): string {
  const numbers = new Map<string, number>();
  return JSON.stringify(readable(answer))
    .replaceAll(id, '<dataset>')
    .replaceAll(slug, '<slug>')
    .replaceAll(name, '<name>')
    .replace(
      CURSOR,
      (_all, key: string | undefined, next: string | undefined, query: string | undefined, after: string | undefined) =>
        key ? `${key}<cursor of ${next!.length}>"` : `${query}<cursor of ${decodeURIComponent(after!).length}>`,
    )
    .replace(ASKED, '$1<asked>')
    .replace(UUID, (uuid) => `<id ${numbers.get(uuid) ?? numbers.set(uuid, numbers.size).size - 1}>`)
    .replace(OWN_TIME, '<time>')
    .replace(/"duration":[\d.]+/g, '"duration":"<ms>"');
}

/** Headers as an object, bytes as text. */
function readable(answer: unknown): unknown {
  if (!(typeof answer === 'object' && answer !== null && 'headers' in answer)) return answer;
  const { headers, ...rest } = answer as Answered;
  const shown = [...(headers instanceof Headers ? headers : [])]
    .filter(([name]) => !PASSING_HEADERS.has(name))
    .map(([name, value]) => [name, name === 'etag' ? '<etag>' : value]);
  return { ...rest, headers: Object.fromEntries(shown) };
}

/** Demands that nothing hidden is in a text. Ids must have been taken out: their digits may be anything. */
export function expectNoSecret(text: string, where = ''): void {
  for (const { what, pattern } of SECRETS) {
    const place = text.search(pattern);
    expect(place === -1 ? null : `${what}: …${text.slice(Math.max(0, place - 60), place + 60)}…`, where).toBeNull();
  }
}

/**
 * Asks both twins the same and demands that the answers cannot be told apart and hold nothing hidden. Answers what was said of the first, for the test to see
 * that it says something.
 */
export async function alike<T>(
  { twins }: Pick<TwinWorld, 'twins'>,
  where: string,
  ask: (twin: Twin) => Promise<T>,
): Promise<T> {
  const answers: T[] = [];
  for (const twin of twins) answers.push(await ask(twin));
  const [one, other] = answers.map((answer, i) => plain(answer, twins[i]!));
  for (const text of [one!, other!]) expectNoSecret(text, where);
  expect(JSON.parse(other!), where).toEqual(JSON.parse(one!));
  return answers[0]!;
}

/** The same of several questions, each told by what it asks. */
export async function allAlike<Q>(
  world: Pick<TwinWorld, 'twins'>,
  questions: readonly Q[],
  ask: (twin: Twin, question: Q) => Promise<{ status: number; body?: unknown }>,
): Promise<void> {
  for (const question of questions) {
    const where = typeof question === 'string' ? question : JSON.stringify(question);
    expect(await alike(world, where, (twin) => ask(twin, question)), where).toMatchObject({ status: 200 });
  }
}

import { native } from './native.ts';
import { asText, SavedRangeError, stringify } from './saved.ts';

type Pairs = [name: string, value: string][];

/** Returns the pairs of a query or of a form. */
export function parseQuery(text: string): Pairs {
  const flat = native('parseQuery', text) as string[] | null;
  if (flat === null) throw tooMany();
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!] as [string, string]] : []));
}

/** The texts cross as JSON, which is built of texts only: a program can change everything that lists inherit. */
function formatQuery(pairs: Pairs): string {
  let list = '';
  for (let i = 0; i < pairs.length; i++) {
    const pair = pairs[i]!;
    list += `${i > 0 ? ',' : ''}${stringify(asText(pair[0]))},${stringify(asText(pair[1]))}`;
  }
  const query = native('formatQuery', `[${list}]`) as string | null;
  if (query === null) throw tooMany();
  return query;
}

const tooMany = () => new SavedRangeError('A query has at most 49,000 parameters');

function pairsOf(init: unknown): Pairs {
  if (init === undefined || init === null) return [];
  if (typeof init !== 'object') return parseQuery(String(init));
  const entries = Symbol.iterator in init ? [...(init as Iterable<[unknown, unknown]>)] : Object.entries(init);
  return entries.map(([name, value]) => [String(name), String(value)]);
}

class URLSearchParams {
  get [Symbol.toStringTag](): string {
    return 'URLSearchParams';
  }
  #pairs: Pairs;
  /** Set by its URL. */
  #onChange: (() => void) | undefined;

  constructor(init?: unknown, onChange?: () => void) {
    this.#pairs = pairsOf(init);
    this.#onChange = onChange;
  }
  get size(): number {
    return this.#pairs.length;
  }
  #change(pairs: Pairs): void {
    this.#pairs = pairs;
    this.#onChange?.();
  }
  append(name: unknown, value: unknown): void {
    this.#change([...this.#pairs, [String(name), String(value)]]);
  }
  delete(name: unknown, value?: unknown): void {
    const isOther = (pair: [string, string]) =>
      pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value));
    this.#change(this.#pairs.filter(isOther));
  }
  get(name: unknown): string | null {
    return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.#pairs.flatMap(([key, value]) => (key === String(name) ? [value] : []));
  }
  has(name: unknown, value?: unknown): boolean {
    return this.getAll(name).some((one) => value === undefined || one === String(value));
  }
  set(name: unknown, value: unknown): void {
    const at = this.#pairs.findIndex(([key]) => key === String(name));
    const pair: [string, string] = [String(name), String(value)];
    if (at < 0) return this.#change([...this.#pairs, pair]);
    const isOther = ([key]: [string, string], i: number) => i < at || key !== pair[0];
    this.#change(this.#pairs.map((one, i) => (i === at ? pair : one)).filter((one, i) => i === at || isOther(one, i)));
  }
  sort(): void {
    this.#change(this.#pairs.toSorted(([one], [other]) => (one < other ? -1 : Number(one > other))));
  }
  forEach(callback: (value: string, name: string, params: unknown) => void): void {
    for (const [name, value] of this.#pairs) callback(value, name, this);
  }
  keys(): Iterator<string> {
    return this.#pairs.map(([name]) => name)[Symbol.iterator]();
  }
  values(): Iterator<string> {
    return this.#pairs.map(([, value]) => value)[Symbol.iterator]();
  }
  entries(): Iterator<[string, string]> {
    return this.#pairs.map(([name, value]): [string, string] => [name, value])[Symbol.iterator]();
  }
  [Symbol.iterator](): Iterator<[string, string]> {
    return this.entries();
  }
  toString(): string {
    return formatQuery(this.#pairs);
  }
}

let read!: (url: URL, name: string) => string;
let change!: (url: URL, name: string, value: unknown) => void;
class URL {
  #parts: Record<string, string>;
  #params: URLSearchParams | undefined;

  static {
    read = (url, name) => url.#parts[name]!;
    change = (url, name, value) => {
      const parts = native('changeUrl', url.#parts['href'], name, String(value));
      if (parts === null) throw new TypeError('Invalid URL');
      url.#parts = parts as Record<string, string>;
      if (name === 'search' || name === 'href') url.#params = undefined;
    };
  }

  constructor(text: unknown, base?: unknown) {
    const parts = native('parseUrl', String(text), base === undefined ? undefined : String(base));
    if (parts === null) throw new TypeError('Invalid URL');
    this.#parts = parts as Record<string, string>;
  }
  static canParse(text: unknown, base?: unknown): boolean {
    return URL.parse(text, base) !== null;
  }
  static parse(text: unknown, base?: unknown): URL | null {
    try {
      return new URL(text, base);
    } catch {
      return null;
    }
  }
  get searchParams(): URLSearchParams {
    const params = (this.#params ??= new URLSearchParams(this.#parts['search'], () => {
      change(this, 'search', params.toString());
      this.#params = params;
    }));
    return params;
  }
  toString(): string {
    return this.#parts['href']!;
  }
  toJSON(): string {
    return this.toString();
  }
}
const names = 'href protocol username password host hostname port pathname search hash'.split(' ');
const property = (name: string, isWritable: boolean) =>
  Object.defineProperty(URL.prototype, name, {
    get(this: URL) {
      return read(this, name);
    },
    set: isWritable
      ? function (this: URL, value: unknown) {
          change(this, name, value);
        }
      : undefined,
    enumerable: true,
    configurable: true,
  });
for (const name of names) property(name, true);
property('origin', false);

/** The global classes for addresses. */
export const urlGlobals = { URL, URLSearchParams };

import { upstreamFailed } from '../../core/errors.ts';
import { storableText } from '../../core/storable-text.ts';

/** Maximum number of entries of a page: more than any provider sends. */
const MAX_ENTRIES = 5000;
const MAX_QUOTED_CHARACTERS = 100;

/**
 * An object of a drive's response. Nothing about its values is certain, so each is checked when it is read. Absent values
 * and null are null. Values of another type are UPSTREAM_FAILED, with the names of the field and of the item.
 */
export class StatedObject {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #parent: StatedObject | undefined;
  readonly #prefix: string;

  /** `parent` has this object at `field`. */
  constructor(values: object, parent?: StatedObject, field = '') {
    this.#values = values as Readonly<Record<string, unknown>>;
    this.#parent = parent;
    this.#prefix = parent ? `${parent.#prefix}${field}.` : '';
  }

  /** Returns a text as it is stated, which Postgres may not store. */
  rawText(field: string): string | null {
    const value = this.#valueOf(field);
    if (value === null || typeof value === 'string') return value;
    throw this.#wrong(field, value, 'a text');
  }

  /** Returns a text that is not empty. */
  text(field: string): string | null {
    return storableText(this.rawText(field) ?? '') || null;
  }

  /** Returns a text that is not empty. Throws UPSTREAM_FAILED without it. */
  id(field = 'id'): string {
    const id = this.text(field);
    if (id === null)
      throw upstreamFailed(`The drive states no ${JSON.stringify(this.#prefix + field)}${this.#owner()}`);
    return id;
  }

  /** Returns a number of bytes, which may be a text, as Google sends it; null if it is not a size. */
  size(field: string): number | null {
    const value = this.#valueOf(field);
    if (value === null) return null;
    if (typeof value !== 'number' && typeof value !== 'string') throw this.#wrong(field, value, 'a size');
    const size = typeof value === 'string' ? Number.parseInt(value, 10) : value;
    return Number.isSafeInteger(size) && size >= 0 ? size : null;
  }

  /** Returns a time; null if it is not one of the years 1 to 9999. */
  time(field: string): Date | null {
    const time = new Date(this.text(field) ?? Number.NaN);
    const year = time.getUTCFullYear();
    return year >= 1 && year <= 9999 ? time : null;
  }

  flag(field: string): boolean | null {
    const value = this.#valueOf(field);
    if (value === null || typeof value === 'boolean') return value;
    throw this.#wrong(field, value, 'true or false');
  }

  object(field: string): StatedObject | null {
    const value = this.#valueOf(field);
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#wrong(field, value, 'an object');
    return new StatedObject(value, this, field);
  }

  /** Returns the first text of a list. */
  firstText(field: string): string | null {
    const value = this.#valueOf(field);
    if (value === null) return null;
    if (!Array.isArray(value)) throw this.#wrong(field, value, 'a list');
    return new StatedObject(value, this, field).text('0');
  }

  /** Returns the items of a page. Throws UPSTREAM_FAILED without a list of objects, and for one that is too long. */
  items(field: string): StatedObject[] {
    const value = this.#valueOf(field);
    if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'object' || entry === null))
      throw upstreamFailed('The response of the drive has no list of items');
    if (value.length > MAX_ENTRIES) throw upstreamFailed(`The drive lists more than ${MAX_ENTRIES} items in a page`);
    return (value as object[]).map((entry) => new StatedObject(entry));
  }

  #valueOf(field: string): unknown {
    return Object.hasOwn(this.#values, field) ? (this.#values[field] ?? null) : null;
  }

  #wrong(field: string, value: unknown, expected: string) {
    const stated = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
    const name = JSON.stringify(this.#prefix + field);
    return upstreamFailed(`The drive states ${stated} as ${name}${this.#owner()}, not ${expected}`);
  }

  /** Returns the item for an error: its name, or else its id. */
  #owner(): string {
    const known = this.#outerName();
    return known === undefined ? '' : ` of ${JSON.stringify(storableText(known.slice(0, MAX_QUOTED_CHARACTERS)))}`;
  }

  #outerName(): string | undefined {
    const { name, id } = this.#values;
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
    return (this.#parent && this.#parent.#outerName()) ?? [name, id].find(isText);
  }
}

import { tooLarge } from '../../core/errors.ts';

/** Maximum size of the data of one rendering as JSON. */
const MAX_DATA_BYTES = 50 * 1000 * 1000;

/** Counts the bytes of values while they are read. */
export class DataBudget {
  #left = MAX_DATA_BYTES;

  /** Counts a value. Throws 413 when all values together have more than 50 MB as JSON. */
  take(value: unknown): void {
    this.#left -= jsonBytes(value) + 1;
    if (this.#left < 0)
      throw tooLarge(`The data of the template has more than ${MAX_DATA_BYTES / 1e6} MB: select fewer rows or fields`);
  }
}

/** Returns the size of a value as JSON, without the escapes of texts. */
function jsonBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return Buffer.byteLength(value) + 2;
    case 'number':
    case 'boolean':
      return String(value).length;
    case 'object': {
      if (value === null) return 4;
      if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + jsonBytes(item) + 1, 2);
      let bytes = 2;
      for (const [key, item] of Object.entries(value)) bytes += Buffer.byteLength(key) + jsonBytes(item) + 4;
      return bytes;
    }
    default:
      return 0;
  }
}

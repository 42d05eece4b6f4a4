import { randomBytes } from 'node:crypto';
import type { GenerationId } from '../../../core/dataset-index.ts';

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const WHOLE_ID = new RegExp(`^${ID}$`);
const PREFIX = /^[a-z0-9][a-z0-9-]{0,99}-$/;

/**
 * Names of one installation's generations. The rows of a generation are in an index `<prefix><id>-<suffix>`; the alias `<prefix><id>` points at it when
 * it is complete, and is what readers name.
 */
export class IndexNames {
  readonly prefix: string;
  readonly #index: RegExp;

  constructor(prefix: string) {
    if (!PREFIX.test(prefix)) throw new Error(`Not a prefix for names of indexes: ${prefix}`);
    this.prefix = prefix;
    this.#index = new RegExp(`^${prefix}(${ID})-[0-9a-f]+$`);
  }

  /** The alias of a generation. Only ids make names, so nothing leads beyond the installation's own. */
  alias(id: GenerationId): string {
    if (!WHOLE_ID.test(id)) throw new Error(`Not the id of a generation: ${id}`);
    return `${this.prefix}${id}`;
  }

  /** A name for a new index of the generation, different for each attempt. */
  fresh(id: GenerationId): string {
    return `${this.alias(id)}-${randomBytes(4).toString('hex')}`;
  }

  /** Whose index it is; undefined for what is none of ours. */
  ownerOf(index: string): GenerationId | undefined {
    return this.#index.exec(index)?.[1];
  }

  /** All indexes of a generation, finished or not. */
  ofGeneration(id: GenerationId): string {
    return `${this.alias(id)}-*`;
  }

  /** All indexes of the installation. */
  all(): string {
    return `${this.prefix}*`;
  }
}

import { randomBytes } from 'node:crypto';
import type { GenerationId } from '../../../core/dataset-index.ts';

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const WHOLE_ID = new RegExp(`^${ID}$`);
const PREFIX = /^[a-z0-9][a-z0-9-]{0,99}-$/;

/**
 * Names of one installation's generations. The rows of a generation are in an index `<prefix><id>-<suffix>`. The alias
 * `<prefix><id>` refers to it once it is complete, and is the name for readers. Copies are further aliases of the index.
 */
export class IndexNames {
  readonly prefix: string;
  readonly #index: RegExp;

  constructor(prefix: string) {
    if (!PREFIX.test(prefix)) throw new Error(`Not a prefix for names of indexes: ${prefix}`);
    this.prefix = prefix;
    this.#index = new RegExp(`^${prefix}(${ID})-[0-9a-f]+$`);
  }

  /** Returns the alias of a generation. Names are built from ids only, so none refers to another installation. */
  alias(id: GenerationId): string {
    if (!WHOLE_ID.test(id)) throw new Error(`Not the id of a generation: ${id}`);
    return `${this.prefix}${id}`;
  }

  /** Returns a name for a new index of the generation, different for each attempt. */
  fresh(id: GenerationId): string {
    return `${this.alias(id)}-${randomBytes(4).toString('hex')}`;
  }

  /** Returns the generation of an index; undefined if it belongs to another installation. */
  ownerOf(index: string): GenerationId | undefined {
    return this.#index.exec(index)?.[1];
  }

  /** Returns the generation of an alias; undefined if it is another alias. */
  idOf(alias: string): GenerationId | undefined {
    const id = alias.startsWith(this.prefix) ? alias.slice(this.prefix.length) : '';
    return WHOLE_ID.test(id) ? id : undefined;
  }

  /** Returns a pattern for all indexes that were created for a generation, finished or not. */
  ofGeneration(id: GenerationId): string {
    return `${this.alias(id)}-*`;
  }

  /** Returns a pattern for all indexes of the installation. */
  all(): string {
    return `${this.prefix}*`;
  }
}

import { LRUCache } from 'lru-cache';
import type { Statement } from '../database.ts';
import type { Viewer } from '../viewer.ts';
import type { Condition } from './condition.ts';
import type { Model } from './model.ts';
import { SqlParameters, type BoundCondition } from './sql-parameters.ts';

/** The placeholders that every level of a statement needs. */
export interface StatementScope {
  /** The placeholder of the viewer's tenant. */
  tenant: string;
  /** The access filters of the models below the first level; null where the viewer may read all rows. */
  access: ReadonlyMap<Model, BoundCondition | null>;
}

/** Builds one statement: binds its values, and looks up its text by a key or builds it. */
export class StatementBuilder extends SqlParameters {
  readonly #viewer: Viewer;
  readonly #tenant: string;
  #access: [Model, BoundCondition | null][] | undefined;
  #key: string;

  /** `purpose` must contain everything that the text depends on, apart from the bound conditions. */
  constructor(purpose: string, viewer: Viewer) {
    super();
    this.#key = purpose;
    this.#viewer = viewer;
    this.#tenant = this.bind(viewer.tenantId);
  }

  /** Binds a condition, whose SQL becomes part of the key. */
  override bindCondition(condition: Condition): BoundCondition {
    this.#key += ` ${sqlId(condition.sql)}`;
    return super.bindCondition(condition);
  }

  /** Binds the viewer's access filters for the models below the first level. */
  bindAccess(models: readonly Model[]): void {
    if (models.length === 0) return;
    this.#access = models.map((model) => {
      const filter = model.accessFilter!(this.#viewer);
      if (!filter) this.#key += ' all';
      return [model, filter && this.bindCondition(filter)];
    });
  }

  /** Returns the statement. Calls `print` for its text only if the text is not cached. */
  build(print: (scope: StatementScope) => string): Statement {
    let text = texts.get(this.#key);
    if (text === undefined)
      texts.set(this.#key, (text = print({ tenant: this.#tenant, access: new Map(this.#access) })));
    return { text, values: this.values, isSelected: true };
  }
}

const texts = new LRUCache<string, string>({ max: 2000 });

const sqlIds = new LRUCache<string, number>({ max: 5000 });
let lastSqlId = 0;

/** Returns a number that stands for an SQL text, which keeps the keys of cached texts short. */
function sqlId(sql: string): number {
  const known = sqlIds.get(sql);
  if (known !== undefined) return known;
  sqlIds.set(sql, ++lastSqlId);
  return lastSqlId;
}

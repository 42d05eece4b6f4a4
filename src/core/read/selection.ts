import { LRUCache } from 'lru-cache';
import type { Model } from './model.ts';

/** The columns and relations to read, in canonical order. Equal selections of a model are the same object. */
export interface Selection {
  readonly id: number;
  readonly model: Model;
  /** Names of columns, sorted. */
  readonly columns: readonly string[];
  /** Relations by name, sorted. */
  readonly relations: readonly (readonly [string, Selection])[];
  /** The models of all relations below that have an access filter, each once. */
  readonly guardedModels: readonly Model[];
}

/** Collects the columns and relations of a selection. */
export class SelectionBuilder {
  readonly model: Model;
  /** The id is always selected. */
  readonly #columns = new Set(['id']);
  readonly #relations = new Map<string, SelectionBuilder>();

  constructor(model: Model) {
    this.model = model;
  }

  /** Creates the builder of rows that are not read as a relation. They include their version, for the entity tag. */
  static forRoot(model: Model): SelectionBuilder {
    const builder = new SelectionBuilder(model);
    if ('version' in model.columns) builder.#columns.add('version');
    return builder;
  }

  /**
   * Selects a column, a relation, or a path below a relation, e.g. `owner.name`. Throws for a name that the model does
   * not have.
   */
  select(path: string): void {
    const [first = '', ...rest] = path.split('.');
    if (rest.length === 0 && first in this.model.columns) this.#columns.add(first);
    else if (first in this.model.relations) {
      const related = this.selectRelation(first);
      if (rest.length > 0) related.select(rest.join('.'));
    } else throw new Error(`${this.model.name} has neither a column nor a relation "${first}"`);
  }

  /** Selects a relation. Returns the builder of its rows. */
  selectRelation(name: string): SelectionBuilder {
    let related = this.#relations.get(name);
    if (!related) {
      related = new SelectionBuilder(this.model.relations[name]!.model());
      this.#relations.set(name, related);
    }
    return related;
  }

  hasRelation(name: string): boolean {
    return this.#relations.has(name);
  }

  /** Returns the canonical selection. */
  build(): Selection {
    const columns = [...this.#columns].toSorted();
    const relations = [...this.#relations]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, related]) => [name, related.build()] as const);
    return canonicalSelection(this.model, columns, relations);
  }
}

/** Returns the selection of paths, e.g. `['name', 'owner.name']`, with id and version. */
export function selectPaths(model: Model, paths: readonly string[]): Selection {
  const builder = SelectionBuilder.forRoot(model);
  for (const path of paths) builder.select(path);
  return builder.build();
}

/** Limits the memory that clients can occupy with variations of their selections. */
const MAX_SELECTIONS_PER_MODEL = 1000;
const selectionsOf = new WeakMap<Model, LRUCache<string, Selection>>();
let lastId = 0;

function canonicalSelection(model: Model, columns: readonly string[], relations: Selection['relations']): Selection {
  const signature = `${columns.join()}|${relations.map(([name, { id }]) => `${name}:${id}`).join()}`;
  const selections = selectionsOf.get(model) ?? new LRUCache<string, Selection>({ max: MAX_SELECTIONS_PER_MODEL });
  selectionsOf.set(model, selections);
  const known = selections.get(signature);
  if (known) return known;

  const guarded = relations.flatMap(([, related]) =>
    related.model.accessFilter ? [related.model, ...related.guardedModels] : related.guardedModels,
  );
  const selection = { id: ++lastId, model, columns, relations, guardedModels: [...new Set(guarded)] };
  selections.set(signature, selection);
  return selection;
}

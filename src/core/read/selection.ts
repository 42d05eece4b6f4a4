import { LRUCache } from 'lru-cache';
import type { Model } from './model.ts';

/** What is wanted of a kind, in canonical order; equal wishes are the same object. */
export interface Selection {
  readonly id: number;
  readonly model: Model;
  /** Names of columns, sorted. */
  readonly columns: readonly string[];
  /** Relations by name, sorted. */
  readonly relations: readonly (readonly [string, Selection])[];
  /** The models below this one that have rights of their own, each once. */
  readonly ruled: readonly Model[];
}

/** A selection that is being put together. */
export interface Wish {
  model: Model;
  columns: Set<string>;
  relations: Map<string, Wish>;
}

export const wishFor = (model: Model): Wish => ({ model, columns: new Set(['id']), relations: new Map() });

/** Adds a column, or a relation with what is wanted of it, by a dotted path of the model's names. */
export function want(wish: Wish, path: string): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0 && first in wish.model.columns) wish.columns.add(first);
  else if (first in wish.model.relations) {
    const below = wantRelation(wish, first);
    if (rest.length > 0) want(below, rest.join('.'));
  } else throw new Error(`${wish.model.name} has neither a column nor a relation "${first}"`);
}

/** The wish for a relation, made when it is not there yet. */
export function wantRelation(wish: Wish, name: string): Wish {
  const below = wish.relations.get(name) ?? wishFor(wish.model.relations[name]!.model());
  wish.relations.set(name, below);
  return below;
}

const known = new WeakMap<Model, LRUCache<string, Selection>>();
let latest = 0;

/** The canonical selection of a wish: bounded per kind, so that clients cannot fill the memory with variations. */
export function selectionOf(wish: Wish): Selection {
  const columns = [...wish.columns].toSorted();
  const relations = [...wish.relations]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, below]) => [name, selectionOf(below)] as const);
  const signature = `${columns.join()}|${relations.map(([name, below]) => `${name}:${below.id}`).join()}`;

  const ofModel = known.get(wish.model) ?? new LRUCache<string, Selection>({ max: 1000 });
  known.set(wish.model, ofModel);
  const same = ofModel.get(signature);
  if (same) return same;

  const ruled = new Set(relations.flatMap(([, { model, ruled }]) => (model.accessFilter ? [model, ...ruled] : ruled)));
  const selection = { id: ++latest, model: wish.model, columns, relations, ruled: [...ruled] };
  ofModel.set(signature, selection);
  return selection;
}

/** The selection of columns and relations that are named by their paths, with id and version. */
export function selectionOfPaths(model: Model, paths: readonly string[]): Selection {
  const wish = rootWish(model);
  for (const path of paths) want(wish, path);
  return selectionOf(wish);
}

/** A row that is asked for by itself always says its version: the entity tag speaks of it. */
export function rootWish(model: Model): Wish {
  const wish = wishFor(model);
  if ('version' in model.columns) wish.columns.add('version');
  return wish;
}

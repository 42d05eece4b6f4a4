import {
  getNamedType,
  isAbstractType,
  isListType,
  getNullableType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';
import type { Model, Relation } from './model.ts';
import { rootWish, selectionOf, want, wantRelation, type Selection, type Wish } from './selection.ts';

/** The part of a resolver's `info` that look-ahead reads. */
export type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'schema' | 'returnType'>;

/** What a field's selection asks of a kind. */
export interface Picked {
  selection: Selection;
  /** Fields selected around the rows, of a page for instance `items` and `total`. */
  around: ReadonlySet<string>;
}

interface Entry {
  model: Model;
  path: string;
  picked: Picked;
}

/** By AST node: a document that is kept parsed is looked at once. */
const cache = new WeakMap<FieldNode, Entry[]>();

/**
 * Reads the selection below a field. `path` leads from the field's type to the rows, e.g. `items` for a page; empty when the field answers rows itself.
 * Fragments and repeated fields merge; `@include` and `@skip` are not looked at, so that the answer does not depend on variables.
 */
export function lookAhead(info: Info, model: Model, path = ''): Picked {
  const [node] = info.fieldNodes;
  // Only a single node stands for all that is selected; the same node always has the same fragments.
  if (!node || info.fieldNodes.length > 1) return pick(info, model, path);
  const entries = cache.get(node) ?? [];
  let entry = entries.find((one) => one.model === model && one.path === path);
  if (!entry) {
    entry = { model, path, picked: pick(info, model, path) };
    entries.push(entry);
    cache.set(node, entries);
  }
  return entry.picked;
}

function pick(info: Info, model: Model, path: string): Picked {
  let sets = setsOf(info.fieldNodes);
  let around: ReadonlySet<string> = new Set();
  if (path) {
    const type = getNamedType(info.returnType);
    if (!isObjectType(type)) throw new Error(`${type.name} is no object type, it cannot have the field "${path}"`);
    const fields = collect(info, type, sets);
    around = new Set(fields.keys());
    sets = setsOf(fields.get(path) ?? []);
  }
  const wish = rootWish(model);
  look(info, wish, sets);
  return { selection: selectionOf(wish), around };
}

const setsOf = (nodes: readonly FieldNode[]): SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

/** Adds to the wish what selection sets on the model's type need. */
function look(info: Info, wish: Wish, sets: readonly SelectionSetNode[]): void {
  const { model } = wish;
  const type = info.schema.getType(model.name);
  if (!isObjectType(type)) throw new Error(`The schema has no object type "${model.name}"`);
  const definitions = type.getFields();
  const fields = [...collect(info, type, sets)].filter(([name]) => name in definitions);
  for (const [name] of fields) {
    for (const path of needsOf(model, definitions[name]!)) want(wish, path);
    if (name in model.columns) wish.columns.add(name);
  }
  for (const [name, nodes] of fields) {
    const relation = model.relations[name];
    // What a computed field needs of a relation comes in any case; then it has all that is selected of it, so that whoever finds it can use it.
    if (relation && (wish.relations.has(name) || isForeseeable(relation, definitions[name]!, nodes)))
      look(info, wantRelation(wish, name), setsOf(nodes));
  }
}

function needsOf(model: Model, { name, extensions }: GraphQLField<unknown, unknown>): readonly string[] {
  return model.required[name] ?? (extensions.requires as string[] | undefined) ?? [];
}

/** Whether the rows of a relation can be read with their parent: one key of the row must serve every alias, so arguments rule it out, as do pages. */
function isForeseeable(
  relation: Relation,
  { type, args }: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): boolean {
  const isList = isListType(getNullableType(type));
  return (
    isList === (relation.kind === 'many') &&
    args.every(({ defaultValue }) => defaultValue === undefined) &&
    nodes.every((node) => !node.arguments?.length)
  );
}

/** The fields that selection sets ask of a type, by name; aliases of a field are together. */
function collect(info: Info, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const visit = (set: SelectionSetNode): void => {
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const nodes = fields.get(node.name.value);
        if (nodes) nodes.push(node);
        else fields.set(node.name.value, [node]);
        continue;
      }
      const fragment =
        node.kind === Kind.INLINE_FRAGMENT
          ? node
          : spread.has(node.name.value)
            ? undefined
            : info.fragments[node.name.value];
      if (node.kind === Kind.FRAGMENT_SPREAD) spread.add(node.name.value);
      if (fragment && applies(info, fragment.typeCondition?.name.value, type)) visit(fragment.selectionSet);
    }
  };
  sets.forEach(visit);
  return fields;
}

function applies({ schema }: Info, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true;
  const abstract = schema.getType(condition);
  return isAbstractType(abstract) && schema.isSubType(abstract, type);
}

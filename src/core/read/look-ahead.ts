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
import { SelectionBuilder, type Selection } from './selection.ts';

/** The part of a resolver's `info` that look-ahead reads. */
export type SelectionInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'schema' | 'returnType'>;

/** The selection of a GraphQL field. */
export interface FieldSelection {
  selection: Selection;
  /** Fields that are selected next to the rows: of a page for instance `items` and `total`. */
  pageFields: ReadonlySet<string>;
}

interface CachedSelection {
  model: Model;
  path: string;
  selected: FieldSelection;
}

/** By AST node, so that a cached document is visited once. */
const cache = new WeakMap<FieldNode, CachedSelection[]>();

/**
 * Returns the selection below a field. `path` leads from the field's type to the rows, e.g. `items` for a page; it is
 * empty if the field returns the rows themselves. Merges fragments and repeated fields. Ignores `@include` and `@skip`,
 * so that the result does not depend on variables.
 */
export function lookAhead(info: SelectionInfo, model: Model, path = ''): FieldSelection {
  const [node] = info.fieldNodes;
  // A single node is the whole selection, and always has the same fragments. Each of several nodes is only a part.
  if (!node || info.fieldNodes.length > 1) return collectField(info, model, path);
  const entries = cache.get(node) ?? [];
  let entry = entries.find((one) => one.model === model && one.path === path);
  if (!entry) {
    entry = { model, path, selected: collectField(info, model, path) };
    entries.push(entry);
    cache.set(node, entries);
  }
  return entry.selected;
}

function collectField(info: SelectionInfo, model: Model, path: string): FieldSelection {
  let sets = selectionSetsOf(info.fieldNodes);
  let pageFields: ReadonlySet<string> = new Set();
  if (path) {
    const type = getNamedType(info.returnType);
    if (!isObjectType(type)) throw new Error(`${type.name} is not an object type, it cannot have the field "${path}"`);
    const fields = collectFields(info, type, sets);
    pageFields = new Set(fields.keys());
    sets = selectionSetsOf(fields.get(path) ?? []);
  }
  const builder = SelectionBuilder.forRoot(model);
  collect(info, builder, sets);
  return { selection: builder.build(), pageFields };
}

const selectionSetsOf = (nodes: readonly FieldNode[]): SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

/** Adds the columns and relations that selection sets on the model's type require. */
function collect(info: SelectionInfo, builder: SelectionBuilder, sets: readonly SelectionSetNode[]): void {
  const { model } = builder;
  const type = info.schema.getType(model.name);
  if (!isObjectType(type)) throw new Error(`The schema has no object type "${model.name}"`);
  const definitions = type.getFields();
  const fields = [...collectFields(info, type, sets)].filter(([name]) => name in definitions);
  for (const [name] of fields) {
    for (const path of requiredPaths(model, definitions[name]!)) builder.select(path);
    if (name in model.columns) builder.select(name);
  }
  for (const [name, nodes] of fields) {
    const relation = model.relations[name];
    // A relation that a computed field requires is read anyway. It then gets all its selected fields, so that every
    // resolver can use it.
    if (relation && (builder.hasRelation(name) || isJoinable(relation, definitions[name]!, nodes)))
      collect(info, builder.selectRelation(name), selectionSetsOf(nodes));
  }
}

function requiredPaths(model: Model, { name, extensions }: GraphQLField<unknown, unknown>): readonly string[] {
  return model.required[name] ?? (extensions.requires as string[] | undefined) ?? [];
}

/**
 * Returns whether the rows of a relation can be read with their parent. Pages cannot, and neither can fields with
 * arguments: all aliases of a field share one key of the row.
 */
function isJoinable(
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

/** Returns the fields that selection sets select on a type, by name; aliases of a field are together. */
function collectFields(
  info: SelectionInfo,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visitedFragments = new Set<string>();
  const visit = (set: SelectionSetNode): void => {
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const nodes = fields.get(node.name.value);
        if (nodes) nodes.push(node);
        else fields.set(node.name.value, [node]);
        continue;
      }
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (visitedFragments.has(node.name.value)) continue;
        visitedFragments.add(node.name.value);
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : info.fragments[node.name.value];
      if (fragment && applies(info, fragment.typeCondition?.name.value, type)) visit(fragment.selectionSet);
    }
  };
  sets.forEach(visit);
  return fields;
}

/** Returns whether a fragment on a type condition applies to an object type. */
function applies({ schema }: SelectionInfo, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true;
  const abstract = schema.getType(condition);
  return isAbstractType(abstract) && schema.isSubType(abstract, type);
}

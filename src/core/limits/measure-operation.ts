import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { graphqlLimit } from '../errors.ts';
import { isJsonScalar } from '../query-language.ts';
import { DEFAULT_LIST_LENGTH, lengthOf, FULL_SCAN_COST, type Cost, type CostItem, type CostFactor } from './cost.ts';

const MAX_DEPTH = 15;
const MAX_INTROSPECTION_DEPTH = 18;
const MAX_ALIASES = 50;
const MAX_ROOT_FIELDS = 30;

/** The extension of a field that reads all rows of a dataset. */
export const READS_ALL_ROWS = 'readsAllRows';

/** Depth, breadth and cost of a selection set, fragments included. */
interface Measurement {
  /** Number of nested levels of fields, this one included. */
  depth: number;
  /** Number of nested levels from an introspection field (`__…`), itself included. */
  introspectionDepth: number;
  /** Number of fields on this level. Repeated fields count repeatedly. */
  fields: number;
  /** Aliases on this level by field. */
  aliases: Map<string, Set<string>>;
  cost: Cost;
}

interface MeasureContext {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Default values of variables that are used as limits. */
  defaults: ReadonlyMap<string, number>;
  /** Measured fragments. Null while a fragment is being measured, so that cycles end. Validation refuses cycles. */
  known: Map<string, Measurement | null>;
  /** Names of the fields that read all rows of a dataset. */
  fullScans: Set<string>;
}

/** The cost of an operation, and the names of its fields that read all rows of a dataset. */
export interface OperationCost {
  cost: Cost;
  fullScans: ReadonlySet<string>;
}

/** Measures an operation. Throws `GRAPHQL_LIMIT` when it is too deep or too broad for any variables. */
export function measureOperation(
  document: DocumentNode,
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): OperationCost {
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  const defaults = new Map(
    operation.variableDefinitions?.flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.INT ? [[variable.name.value, lengthOf(Number(defaultValue.value))] as const] : [],
    ),
  );
  const fullScans = new Set<string>();
  const { depth, introspectionDepth, fields, cost } = measureSelection(
    operation.selectionSet,
    schema.getRootType(operation.operation) ?? undefined,
    1,
    { schema, fragments, defaults, known: new Map(), fullScans },
  );
  if (depth > MAX_DEPTH) throw tooDeep(MAX_DEPTH);
  if (introspectionDepth > MAX_INTROSPECTION_DEPTH) throw tooDeep(MAX_INTROSPECTION_DEPTH);
  if (fields > MAX_ROOT_FIELDS) throw graphqlLimit(`The operation has more than ${MAX_ROOT_FIELDS} root fields`);
  return { cost, fullScans };
}

const tooDeep = (max: number) => graphqlLimit(`The operation is deeper than ${max} levels`);

function measureSelection(
  set: SelectionSetNode,
  type: GraphQLNamedType | undefined,
  level: number,
  context: MeasureContext,
): Measurement {
  // Deeper than any limit: further recursion could exhaust the stack.
  if (level > MAX_INTROSPECTION_DEPTH) throw tooDeep(MAX_INTROSPECTION_DEPTH);
  const found: Measurement = { depth: 0, introspectionDepth: 0, fields: 0, aliases: new Map(), cost: [] };
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) measureField(node, type, level, context, found);
    else if (node.kind === Kind.FRAGMENT_SPREAD) addMeasurement(found, measureFragment(node.name.value, context));
    else
      addMeasurement(
        found,
        measureSelection(node.selectionSet, typeOf(node.typeCondition?.name.value, context) ?? type, level, context),
      );
  }
  return found;
}

function measureFragment(name: string, context: MeasureContext): Measurement | null {
  const known = context.known.get(name);
  const fragment = context.fragments.get(name);
  if (known !== undefined || !fragment) return known ?? null;
  context.known.set(name, null);
  const found = measureSelection(fragment.selectionSet, typeOf(fragment.typeCondition.name.value, context), 1, context);
  context.known.set(name, found);
  return found;
}

const typeOf = (name: string | undefined, { schema }: MeasureContext): GraphQLNamedType | undefined =>
  name === undefined ? undefined : schema.getType(name);

function measureField(
  node: FieldNode,
  parent: GraphQLNamedType | undefined,
  level: number,
  context: MeasureContext,
  found: Measurement,
): void {
  const name = node.name.value;
  found.fields++;
  if (node.alias) addAliases(found, name, [node.alias.value]);
  const field = fieldOf(parent, name);
  const type = field && getNamedType(field.type);
  const below = node.selectionSet && measureSelection(node.selectionSet, type, level + 1, context);
  const depth = 1 + Math.max(below?.depth ?? 0, below?.introspectionDepth ?? 0);
  if (name.startsWith('__')) found.introspectionDepth = Math.max(found.introspectionDepth, depth);
  else found.depth = Math.max(found.depth, depth);
  if (field && below && isCompositeType(type)) found.cost.push(costItemOf(node, field, below.cost, context));
  // Rows of a dataset are JSON scalars, and count as objects.
  else if (field && isListType(getNullableType(field.type)) && type && isJsonScalar(type))
    found.cost.push(costItemOf(node, field, [], context));
  if (field?.extensions[READS_ALL_ROWS]) {
    found.cost.push({ count: FULL_SCAN_COST, below: [], length: DEFAULT_LIST_LENGTH, isOpen: false });
    context.fullScans.add(name);
  }
}

function fieldOf(type: GraphQLNamedType | undefined, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

function costItemOf(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  below: Cost,
  context: MeasureContext,
): CostItem {
  const limit = limitOf(node, field, context);
  if (!isListType(getNullableType(field.type)))
    return { count: 1, below, length: limit ?? DEFAULT_LIST_LENGTH, isOpen: false };
  return { count: limit ?? 1, below, length: DEFAULT_LIST_LENGTH, isOpen: limit === undefined };
}

/** Returns the `limit` of a field; undefined when the field has no such argument. */
function limitOf(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  { defaults }: MeasureContext,
): CostFactor | undefined {
  const argument = field.args.find(({ name }) => name === 'limit');
  if (!argument) return undefined;
  const value = node.arguments?.find(({ name }) => name.value === 'limit')?.value;
  const defaultLength = lengthOf(argument.defaultValue);
  if (!value) return defaultLength;
  if (value.kind === Kind.VARIABLE)
    return { variable: value.name.value, defaultValue: defaults.get(value.name.value) ?? defaultLength };
  return lengthOf(value.kind === Kind.INT ? Number(value.value) : undefined);
}

function addMeasurement(found: Measurement, more: Measurement | null): void {
  if (!more) return;
  found.depth = Math.max(found.depth, more.depth);
  found.introspectionDepth = Math.max(found.introspectionDepth, more.introspectionDepth);
  found.fields += more.fields;
  for (const [field, aliases] of more.aliases) addAliases(found, field, aliases);
  found.cost.push(more.cost);
}

function addAliases({ aliases }: Measurement, field: string, more: Iterable<string>): void {
  const all = aliases.get(field) ?? new Set<string>();
  aliases.set(field, all);
  for (const alias of more) all.add(alias);
  if (all.size > MAX_ALIASES)
    throw graphqlLimit(`The operation has more than ${MAX_ALIASES} aliases of the field "${field}"`);
}

import {
  getNamedType,
  getNullableType,
  GraphQLNonNull,
  isListType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
  type GraphQLOutputType,
} from 'graphql';
import { capitalize } from '../src/core/capitalize.ts';
import type { Endpoint } from './bridge.ts';
import { linksSchema } from './openapi-links.ts';
import { operationId } from './openapi-names.ts';
import { selectionOf, type JsonSchema, type SchemaComponents } from './openapi-types.ts';
import type { Presentation } from './present.ts';
import { topLevelNames } from './selection.ts';

/* Schemas of the output of presenters. */

/** Where a schema is needed: the endpoint, after which it may be named, and whether it is of an item of a list. */
interface Place {
  components: SchemaComponents;
  endpoint: Endpoint;
  isItem?: boolean;
}

/** Returns possible names of a schema, best first: after its type, with the parent field, or after the operation. */
function namesOf({ components, endpoint, isItem }: Place, type: string, isOfParent = false): string[] {
  const id = capitalize(operationId(endpoint));
  const noun = id.replace(/^(List|Get)(?=[A-Z])/, '');
  const { chain, operation } = endpoint.plan!;
  const parent = chain.length > 1 && type !== '' ? capitalize(chain[0]!.name) : '';
  return [
    ...(isOfParent || components.differing.has(type) ? [] : [type]),
    ...(parent && !type.startsWith(parent) ? [parent + type] : []),
    ...(operation === OperationTypeNode.QUERY ? [isItem ? `${noun}Item` : noun] : []),
    `${id}Result`,
  ];
}

const collectionName = (pageType: string): string => `${pageType.replace(/Page$/, '')}Collection`;

/**
 * Returns the names of types, and of collections, that are presented differently by kind, e.g. `Share`. Their schemas are
 * named after the parent, so that a further kind renames none of them.
 */
export function differingNames(endpoints: readonly Endpoint[]): Set<string> {
  const selections = new Map<string, Map<string, string>>();
  for (const { plan, presentation } of endpoints) {
    if (!plan || plan.chain.length < 2 || !presentation) continue;
    const { name } = getNamedType(plan.chain.at(-1)!.field.type);
    const { collection } = presentation;
    const { selection } = collection?.item ?? presentation;
    for (const key of collection ? [name.replace(/Page$/, ''), collectionName(name)] : [name])
      selections.set(key, (selections.get(key) ?? new Map()).set(plan.chain[0]!.name, selection));
  }
  return new Set([...selections].flatMap(([name, byParent]) => (new Set(byParent.values()).size > 1 ? [name] : [])));
}

/** Returns the named schema of the result of an endpoint, as `presentation` prints it. */
export function resultSchema(
  components: SchemaComponents,
  endpoint: Endpoint,
  type: GraphQLOutputType,
  presentation: Presentation,
): JsonSchema {
  const place = { components, endpoint };
  const schema = presentedSchema(place, type, presentation);
  if ('$ref' in schema) return schema;
  const names = namesOf(place, '', true);
  return components.name(names.join(), names, schema);
}

/** Returns the schema of a field's type as a presentation prints it. */
function presentedSchema(place: Place, type: GraphQLOutputType, presentation: Presentation): JsonSchema {
  if (presentation.shape) return presentation.shape;
  const { components } = place;
  const named = getNamedType(type);
  const fieldType = (name: string) => (isObjectType(named) ? named.getFields()[name]?.type : undefined) ?? type;
  const { unwraps, collection } = presentation;
  // The request waits for the result, so that it is there.
  if (unwraps) {
    const inner = presentedSchema(place, asNonNull(fieldType(unwraps.field)), unwraps.inner);
    const beside = unwraps.beside === undefined ? undefined : selectionOf(unwraps.beside);
    return beside ? { allOf: [inner, components.object(named, beside, topLevelNames(unwraps.beside!))] } : inner;
  }
  if (collection)
    return collectionSchema(place, named.name, fieldType, { ...collection, hasPages: presentation.derived?.hasPages });
  const selection = selectionOf(presentation.selection);
  if (!selection || (!presentation.links && !isNonNullType(type)))
    return components.output(type, selection, namesOf(place, named.name).at(-1)!);
  if (isListType(getNullableType(type))) {
    const items = presentedSchema({ ...place, isItem: true }, elementOf(type), presentation);
    return { type: 'array', items };
  }
  const record = components.object(named, selection, presentation.keys, presentation.optional);
  const own = isObjectType(named) ? named.getFields() : {};
  const names = namesOf(
    place,
    named.name,
    presentation.keys.some((key) => !(key in own)),
  );
  if (!presentation.links) return components.name(named.name, names, record);
  const embedded = embeddedProperties(place, fieldType, presentation);
  const properties = { ...(record['properties'] as JsonSchema), _links: linksSchema(presentation), ...embedded };
  const required = [...(record['required'] as string[]), '_links', ...Object.keys(embedded)];
  return components.name(named.name, names, { ...record, properties, required });
}

const asNonNull = (type: GraphQLOutputType): GraphQLOutputType => new GraphQLNonNull(getNullableType(type));

/** Returns the property `_embedded` of a record; none without embedded fields. */
function embeddedProperties(
  place: Place,
  fieldType: (name: string) => GraphQLOutputType,
  { embeds = [] }: Presentation,
): Record<string, JsonSchema> {
  if (embeds.length === 0) return {};
  const properties = embeds.map(
    ({ rel, name, inner }) => [rel, embeddedSchema(place, fieldType(name), inner)] as const,
  );
  return {
    _embedded: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: embeds.map(({ rel }) => rel),
    },
  };
}

/** Returns the schema of an embedded field: a record, a list of records, or null. */
function embeddedSchema(place: Place, type: GraphQLOutputType, inner: Presentation): JsonSchema {
  const isList = isListType(getNullableType(type));
  const record = presentedSchema(
    { ...place, isItem: true },
    isList ? asNonNull(getNamedType(type) as GraphQLOutputType) : asNonNull(type),
    inner,
  );
  const schema = isList ? { type: 'array', items: record } : record;
  return isNonNullType(type) ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** Returns the schema of a HAL collection: page links, embedded items, counts, and the further fields of the page. */
function collectionSchema(
  place: Place,
  typeName: string,
  fieldType: (name: string) => GraphQLOutputType,
  { rel, item, extra, hasPages = true }: NonNullable<Presentation['collection']> & { hasPages?: boolean | undefined },
): JsonSchema {
  const { components } = place;
  const itemSchema = presentedSchema({ ...place, isItem: true }, elementOf(fieldType('items')), item);
  const furtherFields =
    selectionOf(extra)?.selections.flatMap((node) =>
      node.kind === 'Field'
        ? [
            [
              node.name.value,
              components.output(fieldType(node.name.value), node.selectionSet, typeName + capitalize(node.name.value)),
            ] as const,
          ]
        : [],
    ) ?? [];
  const properties = {
    _links: { $ref: `#/components/schemas/${hasPages ? 'PageLinks' : 'ActionListLinks'}` },
    _embedded: {
      type: 'object',
      description: 'Items have fewer links than their records: read a record before you follow others.',
      properties: { [rel]: { type: 'array', items: itemSchema } },
      required: [rel],
    },
    start: { type: 'integer', description: 'Number of items that were skipped.' },
    count: { type: 'integer', description: 'Number of items in this page.' },
    total: { type: 'integer', description: 'Number of items in all pages.' },
    ...Object.fromEntries(furtherFields),
  };
  const base = collectionName(typeName);
  return components.name(base, namesOf(place, base), { type: 'object', properties, required: Object.keys(properties) });
}

/** Returns the element type of a list, through all wrapping types, not null. */
const elementOf = (type: GraphQLOutputType): GraphQLOutputType => asNonNull(getNamedType(type) as GraphQLOutputType);

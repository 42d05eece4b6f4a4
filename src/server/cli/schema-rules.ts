import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { permissionOf, rootTypes } from '../../../resolvers/support/guard.ts';
import { findSchemaChanges } from '../../core/schema-changes.ts';

/** An element of a schema that has a description. `at` is its coordinate, e.g. `Query.jobs(limit)`. */
interface SchemaElement {
  at: string;
  description?: string | null;
  deprecationReason?: string | null;
}

/** Yields every type, field, argument, input field and enum value of the schema. */
function* schemaElements(schema: GraphQLSchema): Generator<SchemaElement> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    yield { at: type.name, description: type.description };
    if (isEnumType(type))
      for (const value of type.getValues())
        yield {
          at: `${type.name}.${value.name}`,
          description: value.description,
          deprecationReason: value.deprecationReason,
        };
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields()))
        yield {
          at: `${type.name}.${field.name}`,
          description: field.description,
          deprecationReason: field.deprecationReason,
        };
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const at = `${type.name}.${field.name}`;
      yield { at, description: field.description, deprecationReason: field.deprecationReason };
      for (const arg of field.args)
        yield { at: `${at}(${arg.name})`, description: arg.description, deprecationReason: arg.deprecationReason };
    }
  }
}

/**
 * Returns an error for each element without a description, deprecation without a reason, and root field without a
 * permission.
 */
export function findElementErrors(schema: GraphQLSchema): string[] {
  const all = [...schemaElements(schema)];
  const undescribed = all.filter(({ description }) => !description?.trim()).map(({ at }) => `${at} has no description`);
  const unexplained = all
    .filter(
      ({ deprecationReason }) =>
        deprecationReason != null && (!deprecationReason.trim() || deprecationReason === 'No longer supported'),
    )
    .map(({ at }) => `${at} is deprecated without a reason`);
  const unprotected = rootTypes(schema).flatMap(([, type]) =>
    Object.values(type!.getFields())
      .filter((field) => !permissionOf(field))
      .map((field) => `${type!.name}.${field.name} names no permission`),
  );
  return [...undescribed, ...unexplained, ...unprotected];
}

/**
 * Returns an error for each change that breaks clients of the released contract, unless CHANGES.md contains its
 * description.
 */
export function findUnannouncedBreaks(released: string, current: string, announced: string): string[] {
  return findSchemaChanges(buildSchema(released), buildSchema(current))
    .filter(({ criticality }) => criticality === 'BREAKING')
    .filter(({ description }) => !announced.includes(description))
    .map(({ description }) => `Breaking: ${description} Add this sentence to CHANGES.md, or revert the change.`);
}

/** Returns the changes between two contracts. `other` are additions that do not affect clients. */
export function compareContracts(
  from: string,
  to: string,
): { breaking: string[]; dangerous: string[]; other: string[] } {
  const [before, after] = [buildSchema(from), buildSchema(to)];
  const known = new Set([...schemaElements(before)].map(({ at }) => at));
  const changes = findSchemaChanges(before, after);
  const of = (wanted: string): string[] =>
    changes.filter(({ criticality }) => criticality === wanted).map(({ description }) => description);
  return {
    breaking: of('BREAKING'),
    dangerous: of('DANGEROUS'),
    other: [...schemaElements(after)]
      .filter(({ at }) => !known.has(at) && !isWithinNewElement(at, known))
      .map(({ at }) => `${at} was added.`),
  };
}

/** Returns whether the type or field of an element is new as well: such elements are not listed. */
const isWithinNewElement = (at: string, known: ReadonlySet<string>): boolean => {
  const parent = /^(.*)(?:\.\w+|\(\w+\))$/.exec(at)?.[1];
  return parent !== undefined && !known.has(parent);
};

interface Composer {
  composeServices(services: { name: string; typeDefs: DocumentNode; url: string }[]): {
    errors?: { message: string }[];
  };
}

/** A development package. The constant hides the import from tools that check the dependencies of the service. */
const COMPOSITION_PACKAGE: string = '@apollo/composition';

/**
 * Returns the errors of composing the subgraph into a federation 2 supergraph. Undefined where the composer is not
 * installed.
 */
export async function findCompositionErrors(subgraph: string): Promise<string[] | undefined> {
  const composition = (await import(COMPOSITION_PACKAGE).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  })) as Composer | undefined;
  const result = composition?.composeServices([
    { name: 'workspace', typeDefs: parse(subgraph), url: 'http://localhost/graphql' },
  ]);
  return result && (result.errors ?? []).map(({ message }) => `The subgraph does not compose: ${message}`);
}

import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
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

/** Anything of a schema that a registry shows with a description. */
interface SchemaElement {
  at: string;
  description?: string | null;
  deprecationReason?: string | null;
}

/** Every type, field, argument, input field and enum value of ours. */
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

/** One sentence for each element without a description or deprecated without a reason, and each root field without a permission. Root types explain themselves. */
export function findElementErrors(schema: GraphQLSchema): string[] {
  const roots = new Set(rootTypes(schema).map(([, type]) => type!.name));
  const all = [...schemaElements(schema)].filter(({ at }) => !roots.has(at));
  const undescribed = all.filter(({ description }) => !description?.trim()).map(({ at }) => `${at} has no description`);
  const unexplained = all
    .filter(
      ({ deprecationReason }) =>
        deprecationReason != null && (!deprecationReason.trim() || deprecationReason === 'No longer supported'),
    )
    .map(({ at }) => `${at} is deprecated without a reason`);
  const open = rootTypes(schema).flatMap(([, type]) =>
    Object.values(type!.getFields())
      .filter((field) => !permissionOf(field))
      .map((field) => `${type!.name}.${field.name} names no permission`),
  );
  return [...undescribed, ...unexplained, ...open];
}

/** One sentence for each change that breaks clients of the released contract and that CHANGES.md does not name word by word. */
export function findUnannouncedBreaks(released: string, current: string, announced: string): string[] {
  return findBreakingChanges(buildSchema(released), buildSchema(current))
    .filter(({ description }) => !announced.includes(description))
    .map(({ description }) => `Breaking: ${description} Name it in CHANGES.md, with these words, or take it back.`);
}

/** What differs between two contracts, as a registry sorts it. `other` are additions that no client notices. */
export function compareContracts(
  from: string,
  to: string,
): { breaking: string[]; dangerous: string[]; other: string[] } {
  const [before, after] = [buildSchema(from), buildSchema(to)];
  const known = new Set([...schemaElements(before)].map(({ at }) => at));
  return {
    breaking: findBreakingChanges(before, after).map(({ description }) => description),
    dangerous: findDangerousChanges(before, after).map(({ description }) => description),
    other: [...schemaElements(after)]
      .filter(({ at }) => !known.has(at) && !isWithinNewElement(at, known))
      .map(({ at }) => `${at} was added.`),
  };
}

/** Fields of a new type, and arguments of a new field, go without saying. */
const isWithinNewElement = (at: string, known: ReadonlySet<string>): boolean => {
  const parent = /^(.*)(?:\.\w+|\(\w+\))$/.exec(at)?.[1];
  return parent !== undefined && !known.has(parent);
};

interface Composer {
  composeServices(services: { name: string; typeDefs: DocumentNode; url: string }[]): {
    errors?: { message: string }[];
  };
}

/** A development package, so that its name must not be seen by those who look for what the service needs. */
const COMPOSITION_PACKAGE: string = '@apollo/composition';

/** One sentence for each reason why the subgraph does not compose into a federation 2 supergraph; undefined where the composer is not installed. */
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

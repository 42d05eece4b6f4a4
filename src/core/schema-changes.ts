import {
  findBreakingChanges,
  findDangerousChanges,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type GraphQLSchema,
} from 'graphql';

/** A change of a schema that may affect clients. */
export interface SchemaChange {
  criticality: 'BREAKING' | 'DANGEROUS';
  /** Its kind, e.g. `FIELD_REMOVED`. */
  type: string;
  description: string;
  /** Coordinate of the changed part in the former schema. */
  coordinate: string;
  /** Coordinates that a request has if the change may affect it. */
  affected: string[];
}

/** Finds the coordinate in a description of graphql-js, by the kind of the change. The groups are type, member and argument. */
const PATTERNS: readonly RegExp[] = [
  /^Standard scalar (?<type>\w+) was removed/,
  /^(?<type>\w+)\.(?<member>\w+) arg (?<argument>\w+) (?:was removed|has changed type)/,
  /^(?<type>\w+)\.(?<member>\w+) arg (?<defaulted>\w+) (?:defaultValue|has changed defaultValue)/,
  /^(?<type>\w+)\.(?<member>\w+) (?:was removed|changed type)/,
  /^An? (?:required|optional) arg \w+ on (?<type>\w+)\.(?<member>\w+) was added/,
  /^An? (?:required|optional) field \w+ on input type (?<type>\w+) was added/,
  /^(?<member>\w+) was removed from enum type (?<type>\w+)\./,
  /^\w+ was (?:added to|removed from) (?:union|enum) type (?<type>\w+)\./,
  /^\w+ added to interfaces implemented by (?<type>\w+)\./,
  /^(?<type>\w+) (?:no longer implements|changed from|is|is no longer) /,
  /^(?<type>\w+) was removed\./,
];
/** Changes of directives, which are described by their bare names. */
const DIRECTIVE_PATTERN =
  /^(?:A required arg \w+ on directive (?<added>\w+) was added|(?<removed>\w+) was removed\.|.* was removed from (?<part>\w+)\.)/;

/**
 * Returns the breaking and dangerous changes between two schemas that graphql-js finds. It does not find changes of `@oneOf`:
 * put on an input it breaks clients that send several fields, taken off it is dangerous.
 */
export function findSchemaChanges(before: GraphQLSchema, after: GraphQLSchema): SchemaChange[] {
  const found = [
    ...findBreakingChanges(before, after).map((change) => ({ criticality: 'BREAKING' as const, ...change })),
    ...findDangerousChanges(before, after).map((change) => ({ criticality: 'DANGEROUS' as const, ...change })),
    ...findOneOfChanges(before, after),
  ];
  return found.map((change) => ({ ...change, ...coordinatesOf(before, change) }));
}

function findOneOfChanges(before: GraphQLSchema, after: GraphQLSchema) {
  return Object.values(before.getTypeMap()).flatMap((type) => {
    const changed = after.getType(type.name);
    if (!isInputObjectType(type) || !isInputObjectType(changed) || type.isOneOf === changed.isOneOf) return [];
    return [
      changed.isOneOf
        ? { criticality: 'BREAKING' as const, type: 'ONE_OF_ADDED', description: `${type.name} is @oneOf now.` }
        : {
            criticality: 'DANGEROUS' as const,
            type: 'ONE_OF_REMOVED',
            description: `${type.name} is no longer @oneOf.`,
          },
    ];
  });
}

function coordinatesOf(
  schema: GraphQLSchema,
  { type: kind, description }: { type: string; description: string },
): Pick<SchemaChange, 'coordinate' | 'affected'> {
  if (kind.includes('DIRECTIVE')) {
    const { added, removed, part } = DIRECTIVE_PATTERN.exec(description)?.groups ?? {};
    const coordinate = `@${added ?? removed ?? part}`;
    return { coordinate, affected: [coordinate] };
  }
  const groups = PATTERNS.map((pattern) => pattern.exec(description)?.groups).find(Boolean);
  if (!groups) throw new Error(`The description of a change is unknown: ${description}`);
  const type = groups['type']!;
  const member = groups['member'] && `${type}.${groups['member']}`;
  if (!member) return { coordinate: type, affected: withMembers(schema, type) };
  if (groups['argument']) {
    const coordinate = `${member}(${groups['argument']}:)`;
    return { coordinate, affected: [coordinate] };
  }
  // A default applies to requests without the argument.
  if (groups['defaulted']) return { coordinate: `${member}(${groups['defaulted']}:)`, affected: [member] };
  const declared = schema.getType(type);
  // The value of a variable counts as its type.
  const countsAsWhole = isInputObjectType(declared) || isEnumType(declared);
  return { coordinate: member, affected: countsAsWhole ? [member, type] : [member] };
}

/** Returns a type with its fields or values: a request has them for literals. */
function withMembers(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (isEnumType(type)) return [name, ...type.getValues().map((value) => `${name}.${value.name}`)];
  if (!isInputObjectType(type) && !isObjectType(type) && !isInterfaceType(type)) return [name];
  return [name, ...Object.keys(type.getFields()).map((field) => `${name}.${field}`)];
}

import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql';

/** Literals for the arguments that must be given, by the argument's name, or by the field's and its name as `filter.id`. */
export type Literals = Readonly<Record<string, string>>;

const isNeeded = ({ type, defaultValue }: GraphQLArgument): boolean =>
  String(type).endsWith('!') && defaultValue === undefined;

/** The call of a field with what it must be given; null when there is an argument that nobody knows a value of. */
export function callOf({ name, args }: GraphQLField<unknown, unknown>, literals: Literals): string | null {
  const given: string[] = [];
  for (const argument of args.filter(isNeeded)) {
    const literal = literals[`${name}.${argument.name}`] ?? literals[argument.name];
    if (literal === undefined) return null;
    given.push(`${argument.name}: ${literal}`);
  }
  return given.length ? `${name}(${given.join(', ')})` : name;
}

/** All that can be selected of a type, as deep as is said, without going round in circles: what is added to the schema is thereby asked for. */
export function everythingOf(
  type: GraphQLNamedType,
  depth: number,
  literals: Literals,
  above: readonly string[] = [],
): string {
  if (isUnionType(type) || isInterfaceType(type)) {
    const shared = isInterfaceType(type)
      ? Object.keys(type.getFields()).filter((name) => !isCompositeType(getNamedType(type.getFields()[name]!.type)))
      : [];
    return ['__typename', ...shared].join(' ');
  }
  if (!isObjectType(type)) return '';
  const path = [...above, type.name];
  return Object.values(type.getFields())
    .flatMap((field) => {
      const named = getNamedType(field.type);
      const call = callOf(field, literals);
      if (call === null) return [];
      if (!isCompositeType(named)) return [call];
      if (depth === 0 || path.includes(named.name)) return [];
      const inner = everythingOf(named, depth - 1, literals, path);
      return inner ? [`${call} { ${inner} }`] : [];
    })
    .join(' ');
}

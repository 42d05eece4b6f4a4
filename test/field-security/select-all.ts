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

/** Literals of required arguments, by `argument` or by `field.argument`, e.g. `filter.id`. */
export type Literals = Readonly<Record<string, string>>;

const isRequired = ({ type, defaultValue }: GraphQLArgument): boolean =>
  String(type).endsWith('!') && defaultValue === undefined;

/** Returns a field with its required arguments, or null if a literal is missing. */
export function fieldCall({ name, args }: GraphQLField<unknown, unknown>, literals: Literals): string | null {
  const passed: string[] = [];
  for (const argument of args.filter(isRequired)) {
    const literal = literals[`${name}.${argument.name}`] ?? literals[argument.name];
    if (literal === undefined) return null;
    passed.push(`${argument.name}: ${literal}`);
  }
  return passed.length ? `${name}(${passed.join(', ')})` : name;
}

/** Returns a selection of all fields of a type up to a depth, without cycles, so that later fields are included. */
export function selectAll(
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
      const call = fieldCall(field, literals);
      if (call === null) return [];
      if (!isCompositeType(named)) return [call];
      if (depth === 0 || path.includes(named.name)) return [];
      const inner = selectAll(named, depth - 1, literals, path);
      return inner ? [`${call} { ${inner} }`] : [];
    })
    .join(' ');
}

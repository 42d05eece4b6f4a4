import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

const isSelectable = ({ args }: Field): boolean => args.every((arg) => !isNonNullType(arg.type));

const fieldsOf = (type: GraphQLNamedType): Field[] =>
  isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()).filter(isSelectable) : [];

/** Fields that read rows of a dataset or of a source: they contain no records, and may fail. */
const WITHOUT_RECORDS = new Set(['data', 'image', 'discover', 'aggregate', 'schema', 'access']);

const isSkipped = (field: Field): boolean => {
  const type = getNamedType(field.type);
  return WITHOUT_RECORDS.has(field.name) && type.name !== 'ReportData';
};

/**
 * Returns the selection of all fields of a type, and of the records to which its fields lead, up to `depth` fields deep.
 * Fields with required arguments are left out.
 */
export function selectRecords(type: GraphQLNamedType, depth: number): string {
  const fields = fieldsOf(type).filter((field) => !isSkipped(field));
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type))).map(({ name }) => name);
  const related = fields
    .filter((field) => !isLeafType(getNamedType(field.type)) && depth > 0)
    .map((field) => {
      const inner = getNamedType(field.type);
      // A page or payload is not a step of its own.
      const isRecord = fieldsOf(inner).some(({ name }) => name === 'id');
      const limit = field.args.some(({ name }) => name === 'limit') ? '(limit: 5)' : '';
      return `${field.name}${limit} { ${selectRecords(inner, depth - (isRecord ? 1 : 0.5))} }`;
    });
  return ['__typename', ...leaves, ...related].join(' ');
}

/** A record of a response, as client caches identify it. */
export interface FoundRecord {
  /** `<typename>:<id>`. */
  key: string;
  typename: string;
  /** The values of the fields that are not objects. */
  values: Readonly<Record<string, unknown>>;
}

/** Returns all records with an `id` in a response. */
export function recordsIn(value: unknown): FoundRecord[] {
  if (Array.isArray(value)) return value.flatMap(recordsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { __typename: typename, ...fields } = value as Record<string, unknown>;
  const inner = Object.values(fields).flatMap(recordsIn);
  if (typeof typename !== 'string' || typeof fields['id'] !== 'string') return inner;
  const isScalar = (one: unknown): boolean => typeof one !== 'object' || one === null;
  const values = Object.fromEntries(Object.entries(fields).filter(([, one]) => isScalar(one)));
  return [{ key: `${typename}:${fields['id']}`, typename, values }, ...inner];
}

/** Returns the object types with an `id`, except root types. */
export const recordTypes = (types: readonly GraphQLNamedType[]): GraphQLObjectType[] =>
  types.filter(isObjectType).filter((type) => 'id' in type.getFields() && !type.name.startsWith('__'));

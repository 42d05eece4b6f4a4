import { ReferenceKind, type EntityMetadata, type EntityProperty } from '@mikro-orm/core';
import type { AccessFilter } from '../../core/read/condition.ts';
import { equalsCondition } from '../../core/read/list-arguments.ts';
import {
  quoteIdentifier,
  type ModelColumn,
  type ColumnType,
  type ListFilter,
  type Model,
  type Relation,
  type RowAlias,
} from '../../core/read/model.ts';

/** The properties of a model that the metadata of an entity does not contain. */
export interface ModelOptions {
  /** The GraphQL type. Default: the class name. */
  name?: string;
  /** The name in error messages. Default: the class name in lower case, e.g. `saved filter`. */
  label?: string;
  /** Default: `tenant_id`. */
  tenantColumn?: string;
  /** The schema of the table if the entity names none. */
  schema?: string;
  relations?: Record<string, Relation>;
  /**
   * Columns that SQL over `p` computes without values, e.g. `(select count(*)::int from dws.share s where s.resource_id
   * = p.id)`.
   */
  computed?: Record<string, { sql: string; type: ColumnType }>;
  required?: Model['required'];
  accessFilter?: AccessFilter;
  nodeAccess?: AccessFilter;
  /** Default: `name` and `description`, as far as the entity has them. */
  searchedFields?: readonly string[];
  /**
   * Fields, or the SQL of each field. Default: `name`, `slug`, `createdAt` and `updatedAt`, as far as the
   * entity has them.
   */
  sortable?: readonly string[] | Model['sortable'];
  sortAccess?: Model['sortAccess'];
  /** Default: `name`, else `createdAt`, else `id`. */
  defaultSort?: string;
  /** Added to `ownerId` and `folderId`, which compare for equality. */
  filters?: Record<string, ListFilter>;
  /** Default: `slug`, case-sensitive. */
  key?: Model['key'];
}

const TYPES: readonly (readonly [RegExp, ColumnType])[] = [
  [/^uuid$/, 'uuid'],
  [/^(text|varchar|char|character|citext)\b/, 'text'],
  [/^jsonb?$|\[\]$/, 'json'],
  [/^(timestamptz|timestamp\b.*with time zone)/, 'timestamp'],
  [/^(int|integer|int4|smallint|int2|serial)$/, 'integer'],
  [/^(bigint|int8|bigserial)$/, 'bigint'],
  [/^bool(ean)?$/, 'boolean'],
  [/^(double|float|real|numeric|decimal)/, 'number'],
  [/^(date|time)$/, 'text'],
];

/**
 * Creates the model of an entity from MikroORM's metadata. Lazy and hidden properties are secrets, so they get no
 * column.
 */
export function createModel(metadata: EntityMetadata, options: ModelOptions = {}): Model {
  const properties = Object.values(metadata.properties) as EntityProperty[];
  const stored = storedColumns(metadata, properties);
  const columns = { ...stored, ...computedColumns(options) };
  const has = (field: string): boolean => field in stored;
  const name = options.name ?? metadata.className;
  return {
    name,
    label: options.label ?? metadata.className.replace(/(?<!^)(?=[A-Z])/g, ' ').toLowerCase(),
    table: [metadata.schema ?? options.schema ?? [], metadata.tableName].flat().map(quoteIdentifier).join('.'),
    tenantColumn: options.tenantColumn ?? 'tenant_id',
    columns,
    relations: options.relations ?? {},
    required: options.required ?? {},
    accessFilter: options.accessFilter,
    nodeAccess: options.nodeAccess,
    searchedFields: options.searchedFields ?? ['name', 'description'].filter(has),
    sortable: sortableFields(options.sortable ?? ['name', 'slug', 'createdAt', 'updatedAt'].filter(has), columns),
    sortAccess: options.sortAccess,
    defaultSort: options.defaultSort ?? ['name', 'createdAt'].find(has) ?? 'id',
    filters: { ...equalityFilters(['ownerId', 'folderId'].filter(has), { name, columns }), ...options.filters },
    key: options.key ?? (has('slug') ? { field: 'slug', ignoreCase: false } : undefined),
  };
}

const storedColumns = (metadata: EntityMetadata, properties: readonly EntityProperty[]): Record<string, ModelColumn> =>
  Object.fromEntries(properties.filter(isColumn).map((property) => [property.name, createColumn(metadata, property)]));

const isColumn = (property: EntityProperty): boolean =>
  property.kind === ReferenceKind.SCALAR &&
  property.persist !== false &&
  !property.lazy &&
  !property.hidden &&
  !property.formula &&
  property.fieldNames.length === 1;

function createColumn(metadata: EntityMetadata, property: EntityProperty): ModelColumn {
  const { name, fieldNames, columnTypes, nullable } = property;
  const type = TYPES.find(([pattern]) => pattern.test(columnTypes[0]!))?.[1];
  if (!type)
    throw new Error(`${metadata.className}.${name}: the read path does not support the column type ${columnTypes[0]}`);
  return { column: fieldNames[0]!, type, nullable: nullable ?? false };
}

const computedColumns = ({ computed = {} }: ModelOptions): Record<string, ModelColumn> =>
  Object.fromEntries(
    Object.entries(computed).map(([name, { sql, type }]) => [name, { column: name, type, sql, nullable: false }]),
  );

function sortableFields(
  sortable: NonNullable<ModelOptions['sortable']>,
  columns: Readonly<Record<string, ModelColumn>>,
): Model['sortable'] {
  if (!isList(sortable)) return sortable;
  return Object.fromEntries(
    sortable.map((field) => {
      const { column, type } = columns[field]!;
      const name = quoteIdentifier(column);
      // Text is sorted without regard to case.
      return [field, (row: RowAlias) => (type === 'text' ? `lower(${row}.${name})` : `${row}.${name}`)];
    }),
  );
}

const isList = (sortable: NonNullable<ModelOptions['sortable']>): sortable is readonly string[] =>
  Array.isArray(sortable);

const equalityFilters = (
  fields: readonly string[],
  model: Pick<Model, 'name' | 'columns'>,
): Record<string, ListFilter> =>
  Object.fromEntries(fields.map((field) => [field, (value: unknown) => equalsCondition(model, field, String(value))]));

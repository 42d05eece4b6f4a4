import { ReferenceKind, type EntityMetadata, type EntityProperty } from '@mikro-orm/core';
import type { AccessFilter } from '../../core/read/condition.ts';
import { equals } from '../../core/read/list-arguments.ts';
import {
  quoted,
  toMany,
  toOne,
  type Column,
  type ColumnType,
  type Filter,
  type Model,
  type Relation,
} from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';

/** What an entity's metadata does not say. Everything has a default but the relations by bare columns. */
export interface ModelExtras {
  /** The GraphQL type, when it is not called like the class. */
  name?: string;
  /** The word of error messages; by default the class name in small letters, `saved filter`. */
  what?: string;
  /** By default `tenant_id`. */
  tenant?: string;
  /** Of the table, where the entity names none. */
  schema?: string;
  relations?: Record<string, Relation>;
  /** Fields that SQL over `p` computes, e.g. `(select count(*)::int from dws.share s where s.resource_id = p.id)`; it needs no values. */
  computed?: Record<string, { sql: string; type: ColumnType }>;
  required?: Record<string, readonly string[]>;
  accessFilter?: AccessFilter;
  /** By default `name` and `description`, as far as there are. */
  text?: readonly string[];
  /** Words of the client: fields, or words with SQL over `r`. By default `name`, `slug`, `createdAt`, `updatedAt`. */
  sortable?: readonly string[] | Record<string, string>;
  /** See `Model`. */
  orders?: Model['orders'];
  /** By default `name`, otherwise `createdAt`, otherwise `id`. */
  order?: string;
  /** Beside `ownerId` and `folderId`, which compare for equality. */
  filters?: Record<string, Filter>;
  /** By default `slug`, as it is spelt. */
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

/** The model of an entity that MikroORM has discovered. Lazy and hidden properties are secrets and stay out; `modelFor` finds the models of relations. */
export function modelOf(
  metadata: EntityMetadata,
  extras: ModelExtras = {},
  modelFor?: (kind: EntityType) => Model,
): Model {
  const props = Object.values(metadata.properties) as EntityProperty[];
  const stored = Object.fromEntries(props.filter(isColumn).map((prop) => [prop.name, columnOf(metadata, prop)]));
  const computed = Object.entries(extras.computed ?? {}).map(([name, { sql, type }]): [string, Column] => [
    name,
    { column: name, type, sql, nullable: false },
  ]);
  const columns: Record<string, Column> = { ...stored, ...Object.fromEntries(computed) };
  const has = (field: string): boolean => field in stored;
  const reference = (field: string): string => `r.${quoted(columns[field]!.column)}`;
  // People look for words in the order of the alphabet, whichever way they are spelt.
  const sortKey = (field: string): string =>
    columns[field]!.type === 'text' ? `lower(${reference(field)})` : reference(field);
  const sortable = extras.sortable ?? ['name', 'slug', 'createdAt', 'updatedAt'].filter(has);

  const model: Model = {
    name: extras.name ?? metadata.className,
    what: extras.what ?? metadata.className.replace(/(?<!^)(?=[A-Z])/g, ' ').toLowerCase(),
    table: [metadata.schema ?? extras.schema ?? [], metadata.tableName].flat().map(quoted).join('.'),
    tenant: extras.tenant ?? 'tenant_id',
    columns,
    relations: { ...relationsOf(props, modelFor), ...extras.relations },
    required: extras.required ?? {},
    accessFilter: extras.accessFilter,
    text: extras.text ?? ['name', 'description'].filter(has),
    sortable: isList(sortable) ? Object.fromEntries(sortable.map((field) => [field, sortKey(field)])) : sortable,
    orders: extras.orders,
    order: extras.order ?? ['name', 'createdAt'].find(has) ?? 'id',
    filters: {
      ...Object.fromEntries(
        ['ownerId', 'folderId']
          .filter(has)
          .map((field) => [field, (value: unknown) => equals(model, field, String(value))]),
      ),
      ...extras.filters,
    },
    key: extras.key ?? (has('slug') ? { field: 'slug', foldCase: false } : undefined),
  };
  return model;
}

const isList = (value: readonly string[] | Record<string, string>): value is readonly string[] => Array.isArray(value);

const isColumn = (prop: EntityProperty): boolean =>
  prop.kind === ReferenceKind.SCALAR &&
  prop.persist !== false &&
  !prop.lazy &&
  !prop.hidden &&
  !prop.formula &&
  prop.fieldNames.length === 1;

function columnOf(metadata: EntityMetadata, { name, fieldNames, columnTypes, nullable }: EntityProperty): Column {
  const type = TYPES.find(([pattern]) => pattern.test(columnTypes[0]!))?.[1];
  if (!type)
    throw new Error(`${metadata.className}.${name}: the read path does not know the column type ${columnTypes[0]}`);
  return { column: fieldNames[0]!, type, nullable: nullable ?? false };
}

/** The relations that MikroORM knows: many-to-one and one-to-one by their column, one-to-many by the column on the other side. */
function relationsOf(
  props: readonly EntityProperty[],
  modelFor: ((kind: EntityType) => Model) | undefined,
): Record<string, Relation> {
  const relations: Record<string, Relation> = {};
  for (const prop of props) {
    const target = (): Model => {
      if (!modelFor) throw new Error(`Nobody knows the model of ${prop.type}`);
      return modelFor(prop.targetMeta!.class as EntityType);
    };
    if (prop.kind === ReferenceKind.MANY_TO_ONE || (prop.kind === ReferenceKind.ONE_TO_ONE && prop.owner))
      relations[prop.name] = toOne(target, prop.fieldNames[0]!);
    else if (prop.kind === ReferenceKind.ONE_TO_MANY) {
      const mappedBy = prop.targetMeta!.properties[prop.mappedBy]!;
      relations[prop.name] = toMany(target, mappedBy.fieldNames[0]!, 'id');
    }
  }
  return relations;
}

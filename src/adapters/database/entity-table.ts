import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';
import type { SqlRow, Statement } from '../../core/database.ts';
import type { FindOptions, RowClass, RowField, RowFilter, StoredRow } from '../../core/platform.ts';
import { quoteIdentifier } from '../../core/read/model.ts';
import { SqlParameters } from '../../core/read/sql-parameters.ts';
import { columnCodec, type ColumnCodec, type Comparison, type StoredValue } from './column-codec.ts';

/** A column of an entity's table. */
interface TableColumn extends RowField {
  /** The quoted name. */
  sql: string;
  codec: ColumnCodec;
  /** Returns the new value for an update that does not set the field. */
  onUpdate?: (() => unknown) | undefined;
}

/** The values of a row as they are stored, by field. */
export type StoredValues = Record<string, StoredValue>;

/**
 * The table of an entity: builds statements for its rows and converts their values, all from MikroORM's metadata. Texts
 * contain no values, so that connections prepare them.
 */
export class EntityTable<T extends StoredRow = StoredRow> {
  /** The stored fields, and how they are stored. */
  readonly columns: readonly TableColumn[];
  readonly #prototype: object;
  readonly #name: string;
  readonly #selected: readonly TableColumn[];
  readonly #selection: string;
  readonly #texts = new Map<string, string>();

  constructor(metadata: EntityMetadata) {
    this.#prototype = (metadata.class as RowClass<T>).prototype as object;
    this.#name = `${quoteIdentifier(metadata.schema ?? 'dws')}.${quoteIdentifier(metadata.tableName)}`;
    this.columns = metadata.props.filter(({ persist }) => persist !== false).map(toColumn);
    this.#selected = this.columns.filter(({ lazy }) => !lazy);
    this.#selection = this.#selected
      .map(({ name, sql, codec }) => `${codec.select?.(`r.${sql}`) ?? `r.${sql}`} as ${quoteIdentifier(name)}`)
      .join(', ');
  }

  /** Returns the statement for rows of a tenant. */
  select(tenantId: string, where: RowFilter<T>, { orderBy = [], lock }: FindOptions<T> = {}): Statement {
    const sql = new SqlParameters();
    const order = orderBy.map((field) => `r.${this.#column(field).sql}`).join(', ');
    const rows = [`where ${this.#where(sql, tenantId, where)}`, order && `order by ${order}`, lock && `for ${lock}`];
    const suffix = rows.filter(Boolean).join(' ');
    return {
      text: this.#text(suffix, () => `select ${this.#selection} from ${this.#name} r ${suffix}`),
      values: sql.values,
    };
  }

  /** Returns the statement for the number of rows of a tenant. */
  count(tenantId: string, where: RowFilter<T>): Statement {
    const sql = new SqlParameters();
    return {
      text: `select count(*)::int as count from ${this.#name} r where ${this.#where(sql, tenantId, where)}`,
      values: sql.values,
    };
  }

  /** Returns the statement that inserts a row. Undefined fields get the default of their column. */
  insert(row: T): Statement {
    const columns = this.columns.filter(({ name }) => valueOf(row, name) !== undefined);
    return {
      text: this.#text(`insert ${namesOf(columns)}`, () => {
        const values = columns.map((_, index) => `$${index + 1}`);
        return `insert into ${this.#name} (${columns.map(({ sql }) => sql).join(', ')}) values (${values.join(', ')})`;
      }),
      values: columns.map(({ name, codec }) => codec.encode(valueOf(row, name))),
    };
  }

  /** Returns the statement that updates the fields of a row and increments its version. Fails with `LOST_ROW`. */
  update(row: T, fields: readonly string[]): Statement {
    const columns = fields.map((field) => this.#column(field));
    return {
      text: this.#text(`update ${namesOf(columns)}`, () => {
        const set = columns.map(({ sql }, index) => `${sql} = $${index + 3}`);
        const assignments = [...set, 'version = version + 1'].join(', ');
        return writeOne(`update ${this.#name} set ${assignments} where tenant_id = $1 and id = $2`);
      }),
      values: [row.tenantId, row.id, ...columns.map(({ name, codec }) => codec.encode(valueOf(row, name)))],
    };
  }

  /** Returns the statement that deletes a row. Fails with `LOST_ROW`. */
  delete({ tenantId, id }: StoredRow): Statement {
    return { text: writeOne(`delete from ${this.#name} where tenant_id = $1 and id = $2`), values: [tenantId, id] };
  }

  /** Creates the row that a statement has returned. */
  createRow(stored: SqlRow): T {
    return Object.assign(Object.create(this.#prototype) as T, stored);
  }

  /**
   * Returns the stored values of a row's fields, by default of all, for a later comparison. The values of lazy fields
   * are unknown until they are set.
   */
  freeze(row: T, fields?: readonly string[]): StoredValues {
    const stored: StoredValues = {};
    for (const { name, lazy, codec } of this.columns) {
      if (fields && !fields.includes(name)) continue;
      const value = valueOf(row, name);
      if (value !== undefined) stored[name] = codec.freeze(value);
      else if (!lazy) stored[name] = NULL;
    }
    return stored;
  }

  /** Returns the fields whose values differ from the stored ones. An undefined value does not count as a change. */
  changedFields(row: T, stored: StoredValues, comparison: Comparison): string[] {
    const changed: string[] = [];
    for (const { name, codec } of this.columns) {
      const value = valueOf(row, name);
      if (value === undefined) continue;
      const known = stored[name];
      if (!known || codec.differs(value, known, comparison)) changed.push(name);
    }
    return changed;
  }

  /** Returns stored values as they were in the row. */
  thaw(stored: StoredValues, fields: readonly string[]): Record<string, unknown> {
    return Object.fromEntries(
      fields.map((field) => [field, stored[field] && this.#column(field).codec.thaw(stored[field])]),
    );
  }

  #column(field: string): TableColumn {
    const column = this.columns.find(({ name }) => name === field);
    if (!column) throw new Error(`${this.#name} has no column for the field ${field}`);
    return column;
  }

  #where(sql: SqlParameters, tenantId: string, where: RowFilter<T>): string {
    const conditions = [`r.tenant_id = ${sql.bind(tenantId)}`];
    if ('sql' in where && 'params' in where) conditions.push(`(${sql.bindCondition(where).text})`);
    else
      for (const [field, value] of Object.entries(where)) {
        const column = this.#column(field);
        conditions.push(
          value === null ? `r.${column.sql} is null` : `r.${column.sql} = ${sql.bind(column.codec.encode(value))}`,
        );
      }
    return conditions.join(' and ');
  }

  /** Returns a text that was printed before for the same key, or prints it. */
  #text(key: string, print: () => string): string {
    let text = this.#texts.get(key);
    if (text === undefined) this.#texts.set(key, (text = print()));
    return text;
  }
}

const NULL: StoredValue = { content: null };

/** SQLSTATE of a statement whose row does not exist: another transaction has deleted it since it was found. */
export const LOST_ROW = 'DW001';

/**
 * Returns the statement that fails with `LOST_ROW` if a statement writes no row. Postgres checks it, because the commit
 * may be in the same round trip.
 */
const writeOne = (write: string): string =>
  `with written as (${write} returning 1) select dws.lose_row() from written having count(*) = 0`;

const namesOf = (columns: readonly TableColumn[]): string => columns.map(({ name }) => name).join();

const toColumn = ({ name, fieldNames, columnTypes, nullable, lazy, onUpdate }: EntityProperty): TableColumn => ({
  name,
  nullable: nullable ?? false,
  sql: quoteIdentifier(fieldNames[0]!),
  lazy: lazy ?? false,
  codec: columnCodec(columnTypes[0]!),
  onUpdate: onUpdate as (() => unknown) | undefined,
});

const valueOf = (row: object, field: string): unknown => (row as Record<string, unknown>)[field];

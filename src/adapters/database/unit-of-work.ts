import type { SqlRow, Statement } from '../../core/database.ts';
import type { RowChange, RowClass, StoredRow } from '../../core/platform.ts';
import type { Comparison } from './column-codec.ts';
import type { EntityTable, StoredValues } from './entity-table.ts';

/** Returns the table of an entity. */
export type TableOf = <T extends StoredRow>(type: RowClass<T>) => EntityTable<T>;

/** A statement that writes a row. */
export interface RowStatement {
  statement: Statement;
  row: StoredRow;
}

/**
 * The rows that a transaction has found, inserted or removed. Returns the statements that write their changes, and
 * records the changes. Contains no input or output.
 */
export class UnitOfWork {
  readonly #tableOf: TableOf;
  readonly #rowsByType = new Map<RowClass, Map<string, StoredRow>>();
  /** The stored values of each row that exists. */
  readonly #stored = new Map<StoredRow, StoredValues>();
  // The maps below have a key of table and id: a row may be deleted, and created again as another object.
  readonly #changes = new Map<string, RowChange>();
  /** The stored values of each row that was deleted here. */
  readonly #deleted = new Map<string, StoredValues>();
  /** The write count after the last write of each row. */
  readonly #writtenAt = new Map<string, number>();
  #writes = 0;
  #inserted = new Set<StoredRow>();
  #removed = new Set<StoredRow>();

  constructor(tableOf: TableOf) {
    this.#tableOf = tableOf;
  }

  /** The changes so far, at most one a row. */
  get changes(): readonly RowChange[] {
    return [...this.#changes.values()];
  }

  /** The number of writes so far. */
  get writeCount(): number {
    return this.#writes;
  }

  /** Returns a row that is known and exists. */
  known<T extends StoredRow>(type: RowClass<T>, id: string): T | undefined {
    return this.#rowsByType.get(type)?.get(id) as T | undefined;
  }

  /**
   * Returns the row for a statement's result: a known row with its new values, unless it has changed here or was
   * written after the statement was sent. `sentAt` is the value of `writeCount` at that time. A row that was deleted
   * after it is returned, but changes of it are not written.
   */
  add<T extends StoredRow>(type: RowClass<T>, values: SqlRow, sentAt: number): T {
    const table = this.#tableOf(type);
    const found = table.createRow(values);
    const known = this.known(type, found.id);
    if ((this.#writtenAt.get(keyOf(found)) ?? 0) > sentAt) return known ?? found;
    if (known && this.#changedFields(known, 'full').length > 0) return known;
    const row = known ? Object.assign(known, found) : found;
    this.#manage(row);
    return row;
  }

  insert(row: StoredRow): void {
    if (!this.#removed.delete(row)) this.#inserted.add(row);
  }

  /** Returns the statement that writes values of a row without other changes. They are not recorded as a change. */
  update<T extends StoredRow>(row: T, values: Partial<T>): RowStatement {
    Object.assign(row, values);
    const changed = this.#changedFields(row, 'full').filter((field) => field in values);
    return this.#writeUpdate(row, changed).written;
  }

  remove(row: StoredRow): void {
    if (!this.#inserted.delete(row) && this.#stored.has(row)) this.#removed.add(row);
  }

  /**
   * Returns the statements for all pending changes: inserts in the order of the calls, then updates, then deletions in
   * the order of the calls. Changes within JSON values are only noticed by a `full` comparison.
   */
  takeStatements(comparison: Comparison): RowStatement[] {
    const statements: RowStatement[] = [];
    const [inserted, removed] = [this.#inserted, this.#removed];
    if (inserted.size > 0) this.#inserted = new Set();
    if (removed.size > 0) this.#removed = new Set();
    for (const row of inserted) statements.push(this.#writeInsert(row));
    for (const row of this.#stored.keys()) {
      if (inserted.has(row) || removed.has(row)) continue;
      const fields = this.#changedFields(row, comparison);
      if (fields.length === 0) continue;
      const { written, change } = this.#writeUpdate(row, fields);
      this.#record(change);
      statements.push(written);
    }
    for (const row of removed) statements.push(this.#writeDelete(row));
    return statements;
  }

  #writeInsert(row: StoredRow): RowStatement {
    const statement = this.#table(row).insert(row);
    this.#manage(row);
    this.#countWrite(row);
    this.#record({ type: 'create', row, ...this.#changesSinceDeletion(row) });
    return { statement, row };
  }

  #writeUpdate(row: StoredRow, changed: readonly string[]): { written: RowStatement; change: RowChange } {
    const table = this.#table(row);
    const automatic = table.columns.filter(({ name, onUpdate }) => onUpdate && !changed.includes(name));
    for (const { name, onUpdate } of automatic) Object.assign(row, { [name]: onUpdate!() });
    const fields = [...changed, ...automatic.map(({ name }) => name)];
    const statement = table.update(row, fields);
    const stored = this.#stored.get(row)!;
    const before = table.thaw(stored, fields);
    row.version++;
    this.#countWrite(row);
    // Changes within JSON values of other fields are still to be written.
    Object.assign(stored, table.freeze(row, [...fields, 'version']));
    return { written: { statement, row }, change: { type: 'update', row, fields, before } };
  }

  #writeDelete(row: StoredRow): RowStatement {
    this.#deleted.set(keyOf(row), this.#stored.get(row)!);
    this.#stored.delete(row);
    this.#countWrite(row);
    this.#rowsByType.get(row.constructor as RowClass)?.delete(row.id);
    this.#record({ type: 'delete', row, fields: [], before: {} });
    return { statement: this.#table(row).delete(row), row };
  }

  #changedFields(row: StoredRow, comparison: Comparison): string[] {
    return this.#table(row).changedFields(row, this.#stored.get(row)!, comparison);
  }

  #manage(row: StoredRow): void {
    const type = row.constructor as RowClass;
    let rows = this.#rowsByType.get(type);
    if (!rows) this.#rowsByType.set(type, (rows = new Map()));
    rows.set(row.id, row);
    this.#stored.set(row, this.#table(row).freeze(row));
  }

  /** Returns how a row that is inserted differs from the row that was deleted, if it existed before. */
  #changesSinceDeletion(row: StoredRow): Pick<RowChange, 'fields' | 'before'> {
    const key = keyOf(row);
    if (this.#changes.get(key)?.type !== 'delete') return { fields: [], before: {} };
    const table = this.#table(row);
    const stored = this.#deleted.get(key)!;
    const fields = table.changedFields(row, stored, 'full').filter((field) => field !== 'version');
    return { fields, before: table.thaw(stored, fields) };
  }

  #countWrite(row: StoredRow): void {
    this.#writtenAt.set(keyOf(row), ++this.#writes);
  }

  #record(change: RowChange): void {
    const key = keyOf(change.row);
    const earlier = this.#changes.get(key);
    if (earlier?.type === 'create' && change.type === 'delete') this.#changes.delete(key);
    else this.#changes.set(key, earlier ? mergeChanges(earlier, change) : change);
  }

  #table(row: StoredRow): EntityTable {
    return this.#tableOf(row.constructor as RowClass);
  }
}

const keyOf = (row: StoredRow): string => `${row.constructor.name} ${row.id}`;

/**
 * Merges two changes of a row in one transaction: a row that was created in it stays created, and a row that was deleted
 * and created again is updated.
 */
const mergeChanges = (first: RowChange, second: RowChange): RowChange => ({
  type: first.type === 'create' ? 'create' : second.type === 'create' ? 'update' : second.type,
  row: second.row,
  fields: [...new Set([...first.fields, ...second.fields])],
  before: { ...second.before, ...first.before },
});

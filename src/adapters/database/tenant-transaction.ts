import { LostRace, type SqlRow, type Statement } from '../../core/database.ts';
import type {
  FindOptions,
  RowChange,
  RowClass,
  RowField,
  RowFilter,
  StoredRow,
  Transaction,
} from '../../core/platform.ts';
import { LOST_ROW } from './entity-table.ts';
import type { PipelinedTransaction } from './pipelined-transaction.ts';
import { UnitOfWork, type RowStatement, type TableOf } from './unit-of-work.ts';

/** SQLSTATE of a row that violates a unique index or constraint. */
const UNIQUE_VIOLATION = '23505';

/** A transaction in one tenant: its unit of work, and the statements in which it is written. */
export class TenantTransaction implements Transaction {
  readonly isRetry: boolean;
  readonly #tenantId: string;
  readonly #open: PipelinedTransaction;
  readonly #tableOf: TableOf;
  readonly #rows: UnitOfWork;
  readonly #duplicateErrors = new Map<StoredRow, (index: string) => Error | null>();

  constructor(tenantId: string, open: PipelinedTransaction, tableOf: TableOf, isRetry: boolean) {
    this.isRetry = isRetry;
    this.#tenantId = tenantId;
    this.#open = open;
    this.#tableOf = tableOf;
    this.#rows = new UnitOfWork(tableOf);
  }

  query = <R extends SqlRow>(statement: Statement): Promise<R[]> => {
    this.flush();
    return this.#open.query<R>(statement);
  };

  execute(statement: Statement): void {
    this.flush();
    this.#open.execute(statement);
  }

  find<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>, options?: FindOptions<T>): Promise<T[]> {
    this.flush();
    return this.#select(type, where, options);
  }

  async findOne<T extends StoredRow>(
    type: RowClass<T>,
    where: RowFilter<T>,
    options?: FindOptions<T>,
  ): Promise<T | null> {
    this.flush();
    const known = options?.lock ? undefined : this.#known(type, where);
    return known ?? (await this.#select(type, where, options))[0] ?? null;
  }

  async count<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>): Promise<number> {
    const [row] = await this.query<{ count: number }>(this.#tableOf(type).count(this.#tenantId, where));
    return row!.count;
  }

  insert<T extends StoredRow>(row: T): T {
    this.#rows.insert(row);
    return row;
  }

  writeUnrecorded<T extends StoredRow>(row: T, values: Partial<T>): void {
    this.flush();
    this.#execute(this.#rows.update(row, values));
  }

  remove(row: StoredRow): void {
    this.#rows.remove(row);
  }

  onDuplicate(row: StoredRow, errorOf: (index: string) => Error | null): void {
    this.#duplicateErrors.set(row, errorOf);
  }

  flush(): void {
    for (const pending of this.#rows.takeStatements('quick')) this.#execute(pending);
  }

  changes(): readonly RowChange[] {
    this.flushAll();
    return this.#rows.changes;
  }

  /** Writes all changes, including changes within JSON values. */
  flushAll(): void {
    for (const pending of this.#rows.takeStatements('full')) this.#execute(pending);
  }

  fieldsOf(type: RowClass): readonly RowField[] {
    return this.#tableOf(type).columns;
  }

  /** Finds rows after a flush. */
  async #select<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>, options?: FindOptions<T>): Promise<T[]> {
    const sentAt = this.#rows.writeCount;
    const found = await this.#open.query(this.#tableOf(type).select(this.#tenantId, where, options));
    return found.map((values) => this.#rows.add(type, values, sentAt));
  }

  #execute({ statement, row }: RowStatement): void {
    this.#open.execute(statement, (error) => this.#writeError(row, error) ?? error);
  }

  #known<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>): T | undefined {
    const [field, ...others] = Object.keys(where);
    return field === 'id' && others.length === 0 ? this.#rows.known(type, (where as { id: string }).id) : undefined;
  }

  #writeError(row: StoredRow, error: unknown): Error | null {
    const { code, constraint } = error as { code?: string; constraint?: string };
    if (code === LOST_ROW) return new LostRace();
    if (code !== UNIQUE_VIOLATION) return null;
    return this.#duplicateErrors.get(row)?.(constraint ?? '') ?? null;
  }
}

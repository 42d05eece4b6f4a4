import DataLoader from 'dataloader';
import type { Query, SqlRow } from '../../core/database.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { DEFAULT_LIMIT, sortOrder, type ListArguments } from '../../core/read/list-arguments.ts';
import { lookAhead, type FieldSelection } from '../../core/read/look-ahead.ts';
import { listOf, MAX_CHILDREN, type Model } from '../../core/read/model.ts';
import { toPage, withOneMore } from '../../core/read/page.ts';
import type {
  EntityType,
  Reader,
  ReadPage,
  ReadRow,
  RowCondition,
  RowKey,
  SelectionSource,
} from '../../core/read/reader.ts';
import { selectPaths, type Selection } from '../../core/read/selection.ts';
import {
  childrenStatement,
  countStatement,
  isPart,
  type ListPart,
  listPart,
  manyStatement,
  oneStatement,
  pageStatement,
  readAfterWriteStatement,
  TOTAL,
} from '../../core/read/statement.ts';
import type { Viewer } from '../../core/viewer.ts';

/** A row of an entity as the driver returns it. The selection decides which of its fields are present. */
type QueriedRow<T> = ReadRow<T> & SqlRow;

/** Loads rows by id. All loads of one tick share a statement. */
type RowLoader<V> = DataLoader<string, V | null>;

/** The related rows of one parent, and their number if it is selected. */
interface ChildrenBatch<T> extends SqlRow {
  parent: string;
  items: ReadRow<T>[];
  total?: number;
}

const MAX_BATCH_SIZE = 1000;
const ITEMS_AND_COUNT: ReadonlySet<string> = new Set(['items', 'count']);

/**
 * The reader of one request. `query` runs on a connection of the viewer's tenant; `modelFor` returns the model of an
 * entity.
 */
export class RowReader implements Reader {
  readonly #query: Query;
  readonly #viewer: Viewer;
  readonly #modelFor: (type: EntityType) => Model;
  readonly #loaders = new Map<string, RowLoader<unknown>>();
  counted?: { total?: number };

  constructor(query: Query, viewer: Viewer, modelFor: (type: EntityType) => Model) {
    this.#query = query;
    this.#viewer = viewer;
    this.#modelFor = modelFor;
  }

  async page<T extends object>(
    type: EntityType<T>,
    args: ListArguments,
    source: SelectionSource,
    where?: RowCondition,
  ): Promise<ReadPage<T>> {
    const model = this.#modelFor(type);
    const { selection, pageFields } = selectionOf(source, model, 'items');
    const part = listPart(args, where, DEFAULT_LIMIT);
    const { start } = part;
    const total = pageFields.has('total');
    const hasNext = pageFields.has('hasNextPage');
    if (total && !hasNext && !pageFields.has('items') && !pageFields.has('count')) {
      // The statement has no order. Arguments are checked whatever is selected.
      if (args.sort) sortOrder(model, args.sort, this.#viewer);
      return { items: [], start, count: 0, total: await this.#count(model, part) };
    }

    const read = hasNext ? withOneMore(part) : part;
    const items = await this.#query<QueriedRow<T>>(pageStatement(selection, this.#viewer, read, total));
    const page = toPage<T>(items, part, hasNext);
    if (total) page.total = await this.#totalOf(items, model, part);
    return page;
  }

  async list<T extends object>(
    type: EntityType<T>,
    source: SelectionSource,
    where?: RowCondition,
    args: ListArguments = {},
    max = MAX_CHILDREN,
  ): Promise<ReadRow<T>[]> {
    const model = this.#modelFor(type);
    const { selection } = selectionOf(source, model);
    const part = listPart(args, where, max, max);
    const counted = isPart(args) ? this.counted : undefined;
    const items = await this.#query<QueriedRow<T>>(pageStatement(selection, this.#viewer, part, !!counted));
    if (counted) counted.total = await this.#totalOf(items, model, part);
    return items;
  }

  async one<T extends object>(
    type: EntityType<T>,
    key: RowKey,
    source: SelectionSource,
    where?: RowCondition,
  ): Promise<ReadRow<T>> {
    const row = await this.find(type, key, source, where);
    if (row) return row;
    const id = typeof key === 'string' ? key : Object.values(key).join(' ');
    throw notFound({ what: this.#modelFor(type).label, id });
  }

  async find<T extends object>(
    type: EntityType<T>,
    key: RowKey,
    source: SelectionSource,
    where?: RowCondition,
  ): Promise<ReadRow<T> | null> {
    const { selection } = selectionOf(source, this.#modelFor(type));
    const [row] = await this.#query<QueriedRow<T>>(oneStatement(selection, this.#viewer, key, where));
    return row ?? null;
  }

  async readAfterWrite<T extends object>(
    type: EntityType<T>,
    id: string,
    source: SelectionSource,
  ): Promise<ReadRow<T>> {
    const model = this.#modelFor(type);
    const { selection } = selectionOf(source, model);
    const [row] = await this.#query<QueriedRow<T>>(readAfterWriteStatement(selection, this.#viewer, id));
    if (!row) throw notFound({ what: model.label, id });
    return row;
  }

  async many<T extends object>(
    type: EntityType<T>,
    ids: readonly string[],
    source: SelectionSource,
  ): Promise<(ReadRow<T> | null)[]> {
    const { selection } = selectionOf(source, this.#modelFor(type));
    const loader = this.#loader<QueriedRow<T>>(`${selection.id}`, (batch) => this.#loadRows(selection, batch));
    return Promise.all(ids.map((id) => (isUuid(id) ? loader.load(id.toLowerCase()) : Promise.resolve(null))));
  }

  async children<T extends object>(
    parent: EntityType,
    relation: string,
    row: { id: string },
    source: SelectionSource,
    args: ListArguments = {},
    where?: RowCondition,
  ): Promise<ReadRow<T>[]> {
    const joined = (row as Record<string, unknown>)[relation];
    if (Array.isArray(joined) && !where && Object.values(args).every((value) => value == null))
      return joined as ReadRow<T>[];
    const model = this.#modelFor(parent);
    const list = listOf(model, relation);
    const selected = selectionOf(source, list.model());
    const counted = isPart(args) ? this.counted : undefined;
    const part = listPart(args, where, list.limit);
    const { items, total } = await this.#loadChildren<T>(model, relation, row.id, selected, part, !!counted);
    if (counted) counted.total = total;
    return items;
  }

  async childPage<T extends object>(
    parent: EntityType,
    relation: string,
    row: { id: string },
    source: SelectionSource,
    args: ListArguments = {},
    where?: RowCondition,
  ): Promise<ReadPage<T>> {
    const model = this.#modelFor(parent);
    const list = listOf(model, relation);
    const selected = selectionOf(source, list.model(), 'items');
    const counts = selected.pageFields.has('total');
    const hasNext = selected.pageFields.has('hasNextPage');
    const part = listPart(args, where, list.limit);
    const read = hasNext ? withOneMore(part) : part;
    const { items, total } = await this.#loadChildren<T>(model, relation, row.id, selected, read, counts);
    const page = toPage<T>(items, part, hasNext);
    if (counts) page.total = total;
    return page;
  }

  async #count(model: Model, part: ListPart): Promise<number> {
    const [row] = await this.#query<{ total: number }>(countStatement(model, this.#viewer, part));
    return row!.total;
  }

  /** Returns the total that rows contain. Without rows it is counted, unless the page is the first. */
  async #totalOf(items: readonly SqlRow[], model: Model, part: ListPart): Promise<number> {
    if (items.length > 0) return items[0]![TOTAL] as number;
    return part.start > 0 ? this.#count(model, part) : 0;
  }

  async #loadRows<T>(selection: Selection, ids: readonly string[]): Promise<(QueriedRow<T> | null)[]> {
    const statement = manyStatement(selection, this.#viewer, [...new Set(ids)]);
    const rows = await this.#query<QueriedRow<T>>(statement);
    const byId = new Map(rows.map((row) => [(row as SqlRow)['id'], row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** Loads the related rows of one parent, in one statement with the rows of the other parents of the tick. */
  async #loadChildren<T>(
    parent: Model,
    relation: string,
    id: string,
    { selection }: FieldSelection,
    part: ListPart,
    total: boolean,
  ): Promise<Required<ChildrenBatch<T>>> {
    const purpose = `${parent.table} ${relation} ${selection.id} ${total} ${JSON.stringify(part)}`;
    const loader = this.#loader<ChildrenBatch<T>>(purpose, async (ids) => {
      const parents = [...new Set(ids)];
      const statement = childrenStatement(parent, relation, selection, this.#viewer, parents, part, total);
      const batches = await this.#query<ChildrenBatch<T>>(statement);
      const byParent = new Map(batches.map((batch) => [batch.parent, batch]));
      return ids.map((parentId) => byParent.get(parentId) ?? null);
    });
    return { parent: id, items: [], total: 0, ...(await loader.load(id)) };
  }

  /**
   * Returns the loader of a purpose. It does not cache, because a mutation may change rows between two reads.
   */
  #loader<V>(purpose: string, batch: (ids: readonly string[]) => Promise<(V | null)[]>): RowLoader<V> {
    const existing = this.#loaders.get(purpose);
    if (existing) return existing as RowLoader<V>;
    const loader: RowLoader<V> = new DataLoader(batch, { cache: false, maxBatchSize: MAX_BATCH_SIZE });
    this.#loaders.set(purpose, loader as RowLoader<unknown>);
    return loader;
  }
}

function selectionOf(source: SelectionSource, model: Model, path = ''): FieldSelection {
  if (isPaths(source)) return { selection: selectPaths(model, source), pageFields: ITEMS_AND_COUNT };
  return lookAhead(source, model, path);
}

const isPaths = (source: SelectionSource): source is readonly string[] => Array.isArray(source);

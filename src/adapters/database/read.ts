import DataLoader from 'dataloader';
import type { Query } from '../../core/database.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { DEFAULT_LIMIT, limitOf, startOf, type ListArguments } from '../../core/read/list-arguments.ts';
import { lookAhead, type Picked } from '../../core/read/look-ahead.ts';
import { MAX_CHILDREN, type Model } from '../../core/read/model.ts';
import type { Key, EntityType, Page, Reader, Row, Wanted, Where } from '../../core/read/reader.ts';
import { selectionOfPaths, type Selection } from '../../core/read/selection.ts';
import {
  childrenStatement,
  countStatement,
  manyStatement,
  oneStatement,
  pageStatement,
  TOTAL,
  writtenStatement,
  type List,
} from '../../core/read/statement.ts';
import type { Viewer } from '../../core/viewer.ts';

/** A row by GraphQL field names. */
type AnyRow = Record<string, unknown> & { id: string };

/** The children of one parent. */
interface Brood {
  parent: string;
  items: AnyRow[];
  total?: number;
}

const ITEMS_AND_COUNT: ReadonlySet<string> = new Set(['items', 'count']);

const isInfo = (wanted: Wanted): wanted is Exclude<Wanted, readonly string[]> => !Array.isArray(wanted);

const pick = (wanted: Wanted, model: Model, path = ''): Picked =>
  isInfo(wanted)
    ? lookAhead(wanted, model, path)
    : { selection: selectionOfPaths(model, wanted), around: ITEMS_AND_COUNT };

/** A reader for one request. `query` runs on a connection of the viewer's tenant; `modelFor` knows the model of a stored type. */
export function createReader(query: Query, viewer: Viewer, modelFor: (kind: EntityType) => Model): Reader {
  const loaders = new Map<string, DataLoader<string, unknown>>();

  /** The loader of a purpose. It batches but keeps nothing: a mutation may have changed what an earlier read saw. */
  function loaderOf<V>(
    purpose: string,
    batch: (ids: readonly string[]) => Promise<(V | null)[]>,
  ): DataLoader<string, V | null> {
    const loader = loaders.get(purpose) ?? new DataLoader<string, unknown>(batch, { cache: false, maxBatchSize: 1000 });
    loaders.set(purpose, loader);
    return loader as DataLoader<string, V | null>;
  }

  async function page(
    model: Model,
    { selection, around }: Picked,
    args: ListArguments,
    where: Where | undefined,
  ): Promise<Page<AnyRow>> {
    const list: List = { args, limit: limitOf(args.limit, DEFAULT_LIMIT), start: startOf(args.start), where };
    const total = around.has('total');
    const count = async (): Promise<number> =>
      (await query<{ total: number }>(countStatement(model, viewer, list)))[0]!.total;
    if (total && !around.has('items') && !around.has('count'))
      return { items: [], start: list.start, count: 0, total: await count() };

    const items = await query<AnyRow>(pageStatement(selection, viewer, list, total));
    const found: Page<AnyRow> = { items, start: list.start, count: items.length };
    // A page without rows has no row to carry the total; before its own start there may be some.
    if (total) found.total = items.length > 0 ? (items[0]![TOTAL] as number) : list.start > 0 ? await count() : 0;
    return found;
  }

  async function find(model: Model, id: Key, wanted: Wanted, where: Where | undefined): Promise<AnyRow | null> {
    const [row] = await query<AnyRow>(oneStatement(pick(wanted, model).selection, viewer, id, where));
    return row ?? null;
  }

  async function many(selection: Selection, ids: readonly string[]): Promise<(AnyRow | null)[]> {
    const rows = await query<AnyRow>(manyStatement(selection, viewer, [...new Set(ids)]));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** One parent's part of a relation, read together with its siblings'. */
  async function brood(
    parent: Model,
    relation: string,
    id: string,
    { selection, around }: Picked,
    args: ListArguments,
    where: Where | undefined,
  ): Promise<Required<Brood>> {
    const list: List = { args, limit: limitOf(args.limit, MAX_CHILDREN), start: startOf(args.start), where };
    const total = around.has('total');
    const purpose = `${parent.table} ${relation} ${selection.id} ${total} ${JSON.stringify([args, where])}`;
    const loader = loaderOf<Brood>(purpose, async (ids) => {
      const rows = await query<Brood & Record<string, unknown>>(
        childrenStatement(parent, relation, selection, viewer, [...new Set(ids)], list, total),
      );
      const byParent = new Map(rows.map((row) => [row.parent, row]));
      return ids.map((one) => byParent.get(one) ?? null);
    });
    return { parent: id, items: [], total: 0, ...(await loader.load(id)) };
  }

  const childModel = (parent: Model, relation: string): Model => {
    const model = parent.relations[relation]?.model();
    if (!model) throw new Error(`${parent.name} has no relation "${relation}"`);
    return model;
  };

  const reader = {
    async page(kind, args, wanted, where) {
      const model = modelFor(kind);
      return page(model, pick(wanted, model, 'items'), args, where);
    },
    async list(kind, wanted, where, args = {}, most = MAX_CHILDREN) {
      const model = modelFor(kind);
      const list: List = { args, limit: limitOf(args.limit, most, most), start: startOf(args.start), where };
      return query<AnyRow>(pageStatement(pick(wanted, model).selection, viewer, list, false));
    },
    async one(kind, id, wanted, where) {
      const model = modelFor(kind);
      const row = await find(model, id, wanted, where);
      if (!row) throw notFound({ what: model.what, id: typeof id === 'string' ? id : Object.values(id).join(' ') });
      return row;
    },
    async find(kind, id, wanted, where) {
      return find(modelFor(kind), id, wanted, where);
    },
    async readAfterWrite(kind, id, wanted) {
      const model = modelFor(kind);
      const [row] = await query<AnyRow>(writtenStatement(pick(wanted, model).selection, viewer, id));
      if (!row) throw notFound({ what: model.what, id });
      return row;
    },
    async many(kind, ids, wanted) {
      const { selection } = pick(wanted, modelFor(kind));
      const loader = loaderOf<AnyRow>(`${selection.id}`, (batch) => many(selection, batch));
      return Promise.all(ids.map((id) => (isUuid(id) ? loader.load(id.toLowerCase()) : Promise.resolve(null))));
    },
    async children(parent, relation, row, wanted, args = {}, where) {
      const brought = (row as Record<string, unknown>)[relation];
      if (Array.isArray(brought) && !where && Object.values(args).every((value) => value == null))
        return brought as Row<object>[];
      const model = modelFor(parent);
      return (await brood(model, relation, row.id, pick(wanted, childModel(model, relation)), args, where)).items;
    },
    async childPage(parent, relation, row, wanted, args = {}, where) {
      const model = modelFor(parent);
      const picked = pick(wanted, childModel(model, relation), 'items');
      const { items, total } = await brood(model, relation, row.id, picked, args, where);
      return { items, start: startOf(args.start), count: items.length, ...(picked.around.has('total') && { total }) };
    },
  } satisfies { [K in keyof Reader]: (...args: Parameters<Reader[K]>) => Promise<unknown> };
  // The rows are what the models say of the kinds; TypeScript cannot follow a kind to its model.
  return reader as unknown as Reader;
}

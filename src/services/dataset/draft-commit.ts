import { isDeepStrictEqual } from 'node:util';
import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import type { Field } from '../../core/fields.ts';
import type { Transaction } from '../../core/platform.ts';
import { resolveChangedSource, type QuerySource } from './dataset-query.ts';

/** What a commit can change of a dataset. */
type Committed = Pick<Dataset, 'name' | 'description' | 'flow' | 'settings' | 'fields'> & QuerySource;

/** What a commit of the draft changes of its dataset. A new source must be one that the caller may use, as in any other change of the dataset. */
export async function applyDraft(
  ctx: Context,
  tx: Transaction,
  parent: Dataset,
  draft: Dataset,
): Promise<Partial<Committed>> {
  const { flow, settings } = draft;
  const all: Partial<Committed> = {
    ...ownNames(draft),
    ...(await committedSource(ctx, tx, parent, draft)),
    flow,
    settings,
    fields: committedFields(parent, draft),
  };
  const keys = (Object.keys(all) as (keyof Committed)[]).filter(
    (key) => !isDeepStrictEqual(all[key] ?? null, parent[key] ?? null),
  );
  return Object.fromEntries(keys.map((key) => [key, all[key] ?? null]));
}

/** Name and description, where they were changed in the draft: so that what a dataset was called meanwhile stays. */
function ownNames({ name, description, draftBase }: Dataset): Partial<Committed> {
  return {
    ...(name !== draftBase!.name && { name }),
    ...((description ?? null) !== (draftBase!.description ?? null) && { description }),
  };
}

const sourceOf = ({ queryId, datasourceId, query, params }: Dataset): QuerySource => ({
  queryId: queryId ?? null,
  datasourceId: datasourceId ?? null,
  query: query ?? null,
  params,
});

/** Null when the draft asks what its dataset asks, or nothing. */
async function committedSource(
  ctx: Context,
  tx: Transaction,
  parent: Dataset,
  draft: Dataset,
): Promise<QuerySource | null> {
  const { queryId, params, ...own } = sourceOf(draft);
  if (isDeepStrictEqual(sourceOf(draft), sourceOf(parent)) || !(queryId || own.query)) return null;
  return resolveChangedSource(ctx, tx, parent, queryId ? { queryId, params } : { queryId, params, ...own });
}

/** The draft's fields where a query of its own gave it others than it was made with; otherwise those that the dataset has by now. Labels are the draft's. */
function committedFields({ fields }: Dataset, { fields: own, draftBase }: Dataset): Field[] {
  const shapes = (list: readonly Field[]) => list.map(({ name, type }) => [name, type]);
  if (!isDeepStrictEqual(shapes(own), shapes(draftBase!.fields))) return own;
  const said = new Map(own.map((field) => [field.name, field]));
  return fields.map((field) => {
    const { description: _former, ...rest } = field;
    const { label, description } = said.get(field.name) ?? field;
    return { ...rest, label, ...(description && { description }) };
  });
}

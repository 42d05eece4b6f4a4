import { isDeepStrictEqual } from 'node:util';
import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import type { Field } from '../../core/fields.ts';
import type { Transaction } from '../../core/platform.ts';
import { type QuerySource } from './dataset-refresh.ts';
import { resolveChangedSource } from './dataset.ts';

/** The columns of a dataset that a commit can change. */
type CommittedColumns = Pick<Dataset, 'name' | 'description' | 'flow' | 'settings' | 'fields'> & QuerySource;

/**
 * Returns the columns that a commit of the draft changes in its dataset. As in any update of a dataset, throws where
 * the caller may not use a new source.
 */
export async function collectDraftChanges(
  ctx: Context,
  tx: Transaction,
  parent: Dataset,
  draft: Dataset,
): Promise<Partial<CommittedColumns>> {
  const { flow, settings } = draft;
  const proposed: Partial<CommittedColumns> = {
    ...changedNames(draft),
    ...(await committedSource(ctx, tx, parent, draft)),
    flow,
    settings,
    fields: committedFields(parent, draft),
  };
  const keys = (Object.keys(proposed) as (keyof CommittedColumns)[]).filter(
    (key) => !isDeepStrictEqual(proposed[key] ?? null, parent[key] ?? null),
  );
  return Object.fromEntries(keys.map((key) => [key, proposed[key] ?? null]));
}

/** Returns name and description if they were changed in the draft. Otherwise the dataset keeps its own. */
function changedNames({ name, description, draftBase }: Dataset): Partial<CommittedColumns> {
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

/** Returns null when the draft has the source of its dataset, or none. */
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

/**
 * Returns the draft's fields if they have changed since its creation. Otherwise returns the current fields of the
 * dataset with the labels and descriptions of the draft.
 */
function committedFields({ fields }: Dataset, { fields: own, draftBase }: Dataset): Field[] {
  const shapes = (list: readonly Field[]) => list.map(({ name, type }) => [name, type]);
  if (!isDeepStrictEqual(shapes(own), shapes(draftBase!.fields))) return own;
  const drafted = new Map(own.map((field) => [field.name, field]));
  return fields.map((field) => {
    const { description: _former, ...rest } = field;
    const { label, description } = drafted.get(field.name) ?? field;
    return { ...rest, label, ...(description && { description }) };
  });
}

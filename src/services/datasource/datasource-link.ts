import { DatasourceLink, type DatasourceLinkType } from '../../../entities/datasource-link.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { load } from '../resource/load-resource.ts';
import { DATASOURCE } from '../resource/owned-kinds.ts';
import { usable } from './datasource-access.ts';

/** What a link can mean. Links are records: nothing is joined by them. */
export const LINK_TYPES: readonly { id: DatasourceLinkType; name: string; description: string }[] = [
  { id: 'foreign-key', name: 'Foreign key', description: 'The source’s fields are the key of a row of the target.' },
  {
    id: 'lookup',
    name: 'Lookup',
    description: 'The source’s fields are looked up in the target, which may have several such rows or none.',
  },
];

export interface DatasourceLinkInput {
  targetDatasourceId: string;
  type: DatasourceLinkType;
  /** Source field to target field. */
  mappings?: Record<string, unknown> | null;
}

/** Links a datasource that the caller may write to one that they may read, which may be the same. Answers the link's id. */
export async function create(
  ctx: Context,
  sourceId: string,
  { targetDatasourceId, type, mappings }: DatasourceLinkInput,
): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const source = await load(ctx, tx, DATASOURCE, sourceId, 'datasource:write');
    const target = await usable(ctx, tx, targetDatasourceId, 'datasource:read');
    const link = tx.em.create(
      DatasourceLink,
      {
        tenantId,
        sourceDatasourceId: source.id,
        targetDatasourceId: target.id,
        type,
        mappings: checkedMappings(mappings ?? {}),
      },
      { partial: true },
    );
    tx.em.persist(link);
    return link.id;
  });
}

/** Takes a link away; whoever may write its source does. */
export async function remove(ctx: Context, sourceId: string, linkId: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const source = await load(ctx, tx, DATASOURCE, sourceId, 'datasource:write');
    const link = isUuid(linkId)
      ? await tx.em.findOne(DatasourceLink, { id: linkId, sourceDatasourceId: source.id })
      : null;
    if (!link) throw notFound({ what: 'link', id: linkId });
    tx.em.remove(link);
  });
}

const MAX_MAPPINGS = 100;

function checkedMappings(given: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(given);
  if (entries.length > MAX_MAPPINGS) throw invalid('mappings', `must have at most ${MAX_MAPPINGS} entries`);
  return Object.fromEntries(
    entries.map(([from, to]) => {
      if (typeof to !== 'string') throw invalid(`mappings.${from}`, 'must be the name of a field');
      return [checkText(from, 'mappings'), checkText(to, `mappings.${from}`)];
    }),
  );
}

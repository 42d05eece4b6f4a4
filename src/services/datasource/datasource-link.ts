import type { CreateDatasourceLinkInput } from '../../../entities/datasource-link-input.ts';
import { DatasourceLink, type DatasourceLinkType } from '../../../entities/datasource-link.ts';
import { DATASOURCE } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { shortenName } from '../../core/shorten-message.ts';
import { loadResource } from '../resource/load-resource.ts';
import { loadUsableDatasource } from './datasource-access.ts';

/** The types of links. Links are documentation: no query is joined by them. */
export const LINK_TYPES: readonly { id: DatasourceLinkType; name: string; description: string }[] = [
  {
    id: 'foreign-key',
    name: 'Foreign key',
    description: 'The source fields are a foreign key: they identify one row of the target.',
  },
  {
    id: 'lookup',
    name: 'Lookup',
    description: 'The source fields are looked up in the target, with any number of matching rows.',
  },
];

/** Links a datasource that the caller may write to one that they may read, or to itself. Returns the link's id. */
export async function create(
  ctx: Context,
  sourceId: string,
  { targetDatasourceId, type, mappings }: CreateDatasourceLinkInput,
): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const source = await loadResource(ctx, tx, DATASOURCE, sourceId, 'datasource:write');
    const target = await loadUsableDatasource(ctx, tx, targetDatasourceId, 'datasource:read');
    const link = newRow(DatasourceLink, {
      tenantId,
      sourceDatasourceId: source.id,
      targetDatasourceId: target.id,
      type,
      mappings: checkMappings(mappings ?? {}),
    });
    return tx.insert(link).id;
  });
}

/** Deletes a link of a datasource that the caller may write. Throws NOT_FOUND for an unknown link. */
export async function remove(ctx: Context, sourceId: string, linkId: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const source = await loadResource(ctx, tx, DATASOURCE, sourceId, 'datasource:write');
    const link = isUuid(linkId)
      ? await tx.findOne(DatasourceLink, { id: linkId, sourceDatasourceId: source.id })
      : null;
    if (!link) throw notFound({ what: 'link', id: linkId });
    tx.remove(link);
  });
}

const MAX_MAPPINGS = 100;

function checkMappings(mappings: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(mappings);
  if (entries.length > MAX_MAPPINGS) throw invalid('mappings', `must have at most ${MAX_MAPPINGS} entries`);
  return Object.fromEntries(
    entries.map(([from, to]) => {
      if (typeof to !== 'string') throw invalid(`mappings.${shortenName(from)}`, 'must be the name of a field');
      return [checkText(from, 'mappings'), checkText(to, `mappings.${from}`)];
    }),
  );
}

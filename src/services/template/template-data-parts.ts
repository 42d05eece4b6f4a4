import type { TemplateInput } from '../../../entities/template-input.ts';
import type { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import type { RowClass, Transaction } from '../../core/platform.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { loadForPart } from './template-part.ts';

type Part = TemplateInput | TemplateProcessor;

/** An item of a list that replaces the parts of a template. */
interface PartItem {
  /** Id of the part that it changes. Absent: the part of the same name, or a new one. */
  id?: string | null;
  name: string;
}

/**
 * Loads a template or draft for a change of its inputs, processors or settings like `loadForPart`. `If-Match` applies to
 * the template.
 */
export async function loadAtVersion(ctx: Context, tx: Transaction, id: string): Promise<Template> {
  const template = await loadForPart(ctx, tx, id);
  checkVersion(ctx, 'template', template.version);
  return template;
}

/** Replaces parts of a template by the items of a list. Parts that an item names keep their ids. */
export function replaceList<T extends Part>(
  tx: Transaction,
  { id: templateId, tenantId }: Template,
  { type, what, list }: { type: RowClass<T>; what: string; list: string },
  former: readonly T[],
  items: readonly (PartItem & Omit<Partial<T>, 'id' | 'name'>)[],
): void {
  const used = new Set<Part>();
  const matches = items.map((item, index) => {
    const match = item.id ? former.find(({ id }) => id === item.id!.toLowerCase()) : undefined;
    if (item.id && !match) throw notFound({ what, id: item.id });
    if (match && used.has(match)) throw invalid(`${list}.${index}.id`, 'is the id of another item too');
    if (match) used.add(match);
    return match;
  });
  for (const [position, { id: _, ...item }] of items.entries()) {
    const match = matches[position] ?? former.find((part) => part.name === item.name && !used.has(part));
    if (match) used.add(match);
    const values = { ...item, position } as unknown as Partial<T>;
    if (match) Object.assign(match, values);
    else tx.insert(newRow<T>(type, { tenantId, templateId, ...values } as unknown as Partial<T>));
  }
  for (const part of former) if (!used.has(part)) tx.remove(part);
}

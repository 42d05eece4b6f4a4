import { Dataset } from '../../../../../entities/dataset.ts';
import type { MailedRows } from '../../../../../entities/mail.ts';
import type { Context } from '../../../../core/context.ts';
import { ApiError } from '../../../../core/errors.ts';
import { digest } from '../../../../core/secret.ts';
import { restrictionOn, VIEW_COLUMNS } from '../../../dataset/dataset-view.ts';

/** Returns which rows of a dataset the viewer of the context sees now. Throws NOT_FOUND if they may not read it. */
export async function describeVisibleRows(ctx: Context, datasetId: string): Promise<MailedRows> {
  const restriction = await restrictionOn(ctx, await ctx.read.one(Dataset, datasetId, VIEW_COLUMNS));
  if (!restriction) return { datasetId, restriction: null };
  const rows = restriction.rows?.map((criteria) => JSON.stringify(criteria)).toSorted() ?? null;
  const fields = restriction.fields && [...restriction.fields].toSorted();
  return { datasetId, restriction: digest(JSON.stringify({ rows, fields })) };
}

/** Returns whether the viewer of the context still sees the rows and fields that a mail has attached. */
export async function seesMailedRows(ctx: Context, mailed: readonly MailedRows[]): Promise<boolean> {
  try {
    for (const { datasetId, restriction } of mailed) {
      const current = await describeVisibleRows(ctx, datasetId);
      if (current.restriction !== null && current.restriction !== restriction) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return false;
    throw error;
  }
}

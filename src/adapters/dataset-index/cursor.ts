import type { GenerationId, RowSearch } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';

/** What is no cursor of ours, or none of this search. */
export const invalidCursor = () => badInput('The cursor in `after` is not valid');

/** The last row of a page. Its sort values are not in the cursor but read again, under the caller's own conditions, so that a forged one tells nothing of hidden rows. */
interface Position {
  generation: GenerationId;
  row: number;
}

export const encodeCursor = ({ generation, row }: Position): string =>
  Buffer.from(JSON.stringify([generation, row])).toString('base64url');

/** @throws badInput when it is no cursor of ours. */
function decodeCursor(after: string): Position {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(after, 'base64url').toString());
  } catch {
    throw invalidCursor();
  }
  const [generation, row] = Array.isArray(parsed) && parsed.length === 2 ? (parsed as unknown[]) : [];
  if (typeof generation !== 'string' || typeof row !== 'number' || !Number.isSafeInteger(row) || row < 0)
    throw invalidCursor();
  return { generation, row };
}

/**
 * The generation that a cursor was made from, for the caller to find it among the replaced ones.
 * @throws badInput when it is no cursor of ours.
 */
export const cursorGeneration = (after: string): GenerationId => decodeCursor(after).generation;

/** The cursor's row in this search. @throws badInput when it belongs to other data or is not among the matching rows. */
export function positionRow({ after, generation }: Pick<RowSearch, 'after' | 'generation'>): number | undefined {
  if (after === undefined) return undefined;
  const position = decodeCursor(after);
  if (position.generation !== generation.id) throw badInput('The cursor in `after` belongs to other data');
  return position.row;
}

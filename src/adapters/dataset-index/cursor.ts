import type { GenerationId, RowSearch } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';

/** Creates the error for an invalid cursor, or a cursor of another search. */
export const invalidCursor = () => badInput('The cursor in `after` is not valid');

/**
 * Position of the last row of a page. A cursor has no sort values: they are read again with the caller's own
 * conditions, so that a forged cursor reveals nothing of hidden rows.
 */
interface Position {
  generation: GenerationId;
  row: number;
}

export const encodeCursor = ({ generation, row }: Position): string =>
  Buffer.from(JSON.stringify([generation, row])).toString('base64url');

/** Decodes a cursor. Throws BAD_USER_INPUT when it is invalid. */
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
 * Returns the generation of a cursor, which may be a replaced one. Throws BAD_USER_INPUT when the cursor is invalid.
 */
export const cursorGeneration = (after: string): GenerationId => decodeCursor(after).generation;

/**
 * Returns the cursor's row in this search. Throws BAD_USER_INPUT when the cursor belongs to other data or its row does
 * not match.
 */
export function positionRow({ after, generation }: Pick<RowSearch, 'after' | 'generation'>): number | undefined {
  if (after === undefined) return undefined;
  const position = decodeCursor(after);
  if (position.generation !== generation.id) throw badInput('The cursor in `after` belongs to other data');
  return position.row;
}

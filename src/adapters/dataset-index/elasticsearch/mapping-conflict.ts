import type { IndexedField } from '../../../core/dataset-index.ts';
import { upstreamFailed } from '../../../core/errors.ts';
import type { ApiError } from '../../../core/errors.ts';
import { ROW } from './field-layout.ts';

const SHOWN_CHARACTERS = 200;
/** Key of a document (field-layout.ts) in the engine's error messages. */
const MEMBER = /(?:field|field=|term in field=)\W{0,2}\[?"?[cpxw](\d+)\b/;

/** The engine's rejection of one row. */
export interface Refusal {
  type?: string;
  reason?: string;
  caused_by?: { reason?: string };
}

/**
 * Creates the error for a row whose value does not fit its field. It contains only that value, nothing else of the row,
 * and no text of the engine.
 */
export function mappingConflict(
  document: string,
  { type, reason, caused_by: cause }: Refusal,
  fields: readonly IndexedField[],
): ApiError {
  const row = JSON.parse(document) as Record<string, unknown>;
  const number = MEMBER.exec(`${reason} ${cause?.reason}`)?.[1];
  const field = fields.find(({ column }) => column === `c${number}`);
  if (!field)
    return upstreamFailed(
      `search-index mapping conflict: row ${Number(row[ROW]) + 1} was refused (${type ?? 'no reason was given'})`,
    );
  const value = row[field.column];
  const shown = (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, SHOWN_CHARACTERS);
  return upstreamFailed(`search-index mapping conflict: field "${field.name}" cannot hold "${shown}"`);
}

import type { IndexedField } from '../../../core/dataset-index.ts';
import { upstreamFailed } from '../../../core/errors.ts';
import type { ApiError } from '../../../core/errors.ts';
import { ROW } from './field-layout.ts';

const SHOWN_CHARACTERS = 200;
/** A member of a document (layout.ts) as the engine's complaints name it. */
const MEMBER = /(?:field|field=|term in field=)\W{0,2}\[?"?[cpxw](\d+)\b/;

/** What the engine says of one row that it did not take. */
export interface Refusal {
  type?: string;
  reason?: string;
  caused_by?: { reason?: string };
}

/** The error for a row whose value does not fit its field. It says that value and nothing else of the row, nor what the engine quotes of it. */
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
  return upstreamFailed(
    `search-index mapping conflict: field "${field.name}" cannot hold "${(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, SHOWN_CHARACTERS)}"`,
  );
}

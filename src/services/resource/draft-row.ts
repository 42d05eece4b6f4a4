import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { conflict } from '../../core/errors.ts';

/** Returns whether a row is the draft of another one, and shares its owner, shares, tags, folder and favourites. */
export const isDraft = ({ hasDrafts }: Pick<OwnedKind<OwnedRow>, 'hasDrafts'>, row: object): boolean =>
  hasDrafts === true && 'parentId' in row && Boolean(row.parentId);

/** Throws CONFLICT for a draft. `what` is what it shares with its original, e.g. `tags`. */
export function checkNoDraft(kind: Pick<OwnedKind<OwnedRow>, 'hasDrafts' | 'what'>, row: object, what: string): void {
  if (isDraft(kind, row)) throw conflict(`A draft has the ${what} of its ${kind.what}`);
}

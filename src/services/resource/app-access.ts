import type { OwnedRow } from '../../../entities/owned-row.ts';
import { conflict } from '../../core/errors.ts';

/** Throws CONFLICT for the datasource of an app: its owner and shares are those of the app. */
export function checkOwnAccess(row: OwnedRow): void {
  if ('appId' in row && row.appId)
    throw conflict('The owner and the shares of the datasource are those of its app: change them there');
}

import type { OwnedRow } from '../../../entities/owned-row.ts';
import { conflict } from '../../core/errors.ts';

/** Throws CONFLICT for the datasource of an app, which has the owner and the shares of its app. */
export function checkOwnAccess(row: OwnedRow): void {
  if ('appId' in row && row.appId)
    throw conflict('The datasource has the owner and the shares of its app: change them there');
}

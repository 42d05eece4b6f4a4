import type { Drive } from '../../core/drive.ts';
import { BOX } from './box.ts';
import { DROPBOX } from './dropbox.ts';
import { GOOGLE_DRIVE } from './google-drive.ts';
import { ONEDRIVE } from './onedrive.ts';

/** Returns the providers of cloud drives by their id. */
export const createDrives = (): ReadonlyMap<string, Drive> =>
  new Map([GOOGLE_DRIVE, DROPBOX, ONEDRIVE, BOX].map((drive) => [drive.id, drive]));

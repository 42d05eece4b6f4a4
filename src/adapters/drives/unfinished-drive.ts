import type { Drive } from '../../core/drive.ts';
import { unavailable } from '../../core/errors.ts';

const refuse = () => Promise.reject(unavailable('This drive cannot be read yet'));

/** The functions of a drive until it is written. */
export const UNFINISHED: Omit<Drive, 'id' | 'name' | 'defaults'> = {
  account: refuse,
  root: refuse,
  start: refuse,
  list: refuse,
  changes: refuse,
  contents: refuse,
};

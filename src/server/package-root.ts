import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

const file = findPackageJSON(import.meta.url)!;

/** Folder of package.json, README.md and schema/, for code in `src` as well as in `dist`. */
export const PACKAGE_ROOT = dirname(file);

/** Version of the product. */
export const VERSION = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;

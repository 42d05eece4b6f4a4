import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

const file = findPackageJSON(import.meta.url)!;

/** The folder of package.json, README.md and schema/, whether we run from `src` or from `dist`. */
export const PACKAGE_ROOT = dirname(file);

/** The product's version. */
export const VERSION = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;

import { existsSync } from 'node:fs';
import { isInstalled as hasSearch } from '../../tools/elasticsearch.ts';
import { isInstalled as hasMariadb } from '../../tools/mariadb.ts';
import { isInstalled as hasPython } from '../../tools/python.ts';
import { canMount } from './small-disk.ts';

/** Under CI a missing engine fails the tests that require it. Elsewhere they are skipped, and `npm test` lists them. */
const required = Boolean(process.env.CI);
export const HAS_ELASTICSEARCH = required || hasSearch('elasticsearch');
export const HAS_MARIADB = required || hasMariadb();
/** OpenSearch is tested where `OPENSEARCH=1` is set. */
export const HAS_OPENSEARCH = process.env.OPENSEARCH === '1';

/** The browser that opens the pages. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
export const HAS_CHROMIUM = required || CHROMIUM !== undefined;

/** The browser that prints PDFs: the packages contain one for Linux on x64. */
export const HAS_PRINTER = (process.platform === 'linux' && process.arch === 'x64') || CHROMIUM !== undefined;

/** The virtual environment in which the examples in Python run. */
export const HAS_PYTHON = required || hasPython();

/** Full disks are tested on a small file system that the test mounts. */
export const HAS_SMALL_DISKS = required || canMount();

/** Lists the tests that this machine skips, for readers of the end of the output. */
export const leftOut = (): string[] => [
  ...(HAS_ELASTICSEARCH ? [] : ['dataset rows in Elasticsearch: node tools/elasticsearch.ts install']),
  ...(HAS_MARIADB ? [] : ['MySQL and MariaDB as sources: node tools/mariadb.ts install']),
  ...(HAS_CHROMIUM ? [] : ['the pages in a browser: apt-get install chromium']),
  ...(HAS_PRINTER ? [] : ['PDFs, as the packages contain no browser for this machine: apt-get install chromium']),
  ...(HAS_PYTHON ? [] : ['the examples in Python: node tools/python.ts install']),
  ...(HAS_SMALL_DISKS ? [] : ['full disks, other than /dev/full: run as root, or with sudo without a password']),
];

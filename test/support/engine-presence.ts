import { existsSync } from 'node:fs';
import { isInstalled as hasSearch } from '../../tools/elasticsearch.ts';
import { isInstalled as hasMariadb } from '../../tools/mariadb.ts';

/** Under CI nothing is left out: there a missing engine fails the tests that ask for it. Elsewhere they are skipped, and `npm test` says so. */
const required = Boolean(process.env.CI);
export const HAS_ELASTICSEARCH = required || hasSearch('elasticsearch');
export const HAS_MARIADB = required || hasMariadb();
/** OpenSearch is tried where `OPENSEARCH=1` asks for it. */
export const HAS_OPENSEARCH = process.env.OPENSEARCH === '1';

/** The browser that looks at the pages. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
export const HAS_CHROMIUM = required || CHROMIUM !== undefined;

/** What this machine's tests leave out, for whoever reads only the end of the output. */
export const leftOut = (): string[] => [
  ...(HAS_ELASTICSEARCH ? [] : ['dataset rows in Elasticsearch: node tools/elasticsearch.ts install']),
  ...(HAS_MARIADB ? [] : ['MySQL and MariaDB as sources: node tools/mariadb.ts install']),
  ...(HAS_CHROMIUM ? [] : ['the pages in a browser: apt-get install chromium']),
];

/**
 * Serves a folder of the embedded Postgres, e.g. one that failed tests left, until Ctrl-C: `node tools/open-postgres.ts
 * <folder>`.
 */
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';

const [dataDir] = process.argv.slice(2);
if (!dataDir) throw new Error('usage: node tools/open-postgres.ts <folder>');
const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
console.log(postgres.url);
const wait = setInterval(() => undefined, 60_000);
process.once('SIGINT', () => {
  clearInterval(wait);
  void postgres.close();
});

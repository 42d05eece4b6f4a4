import { inject } from 'vitest';
import type { MariadbAddress } from '../../tools/mariadb.ts';

export {
  CHROMIUM,
  HAS_CHROMIUM,
  HAS_ELASTICSEARCH,
  HAS_MARIADB,
  HAS_OPENSEARCH,
  HAS_PRINTER,
  HAS_PYTHON,
} from './engine-presence.ts';

/** One for the whole run: tests are separated by the prefix of their indexes. */
export const elasticsearch = (): Promise<{ url: string }> => engine('elasticsearch');
export const opensearch = (): Promise<{ url: string }> => engine('opensearch');
/** One for the whole run: tests are separated by their own databases. */
export const mariadb = (): Promise<MariadbAddress> => engine('mariadb');

async function engine<Address>(name: string): Promise<Address> {
  const answer = await fetch(`${inject('engines').url}/${name}`);
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Address;
}

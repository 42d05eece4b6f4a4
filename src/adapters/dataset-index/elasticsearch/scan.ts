import type { Row, RowSearch } from '../../../core/dataset-index.ts';
import { meanRowBytes } from '../search-parts.ts';
import type { SearchEngineReader } from './client.ts';
import { matchingRows } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';
import type { SearchResponse } from './search-requests.ts';
import { rowsAsked } from './search.ts';

/** Bytes of rows, as stored in the index, per batch. */
const BATCH_BYTES = 8 << 20;
const BATCH_ROWS = 5000;
const BATCH_VALUES = 250_000;
/** How long the engine retains the scroll until the next batch is requested. */
const SCROLL_TIMEOUT = '10m';

type Scan = Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>;

/**
 * Yields all matching rows in batches and retains none. It uses a scroll, which both engines support, and which can
 * read a generation that is dropped during the scan.
 */
export async function* scanRows(engine: SearchEngineReader, search: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  const { asked, row } = rowsAsked(matchingRows(search), search);
  const shown = ['_scroll_id', ...asked.filter_path];
  const size = batchRows(search);
  let answer = await searchDocuments(
    engine,
    search.generation,
    { ...asked, size, scroll: SCROLL_TIMEOUT, filter_path: shown },
    signal,
  );
  const scroll = { id: answer._scroll_id };
  try {
    for (let hits = hitsOf(answer); hits.length > 0; hits = hitsOf(answer)) {
      yield hits.map(row);
      if (hits.length < size) return;
      // The engine keeps the query with its automata.
      answer = await engine.ask(
        (client, options) =>
          client.scroll<Record<string, unknown>, Record<string, unknown>>(
            { scroll_id: scroll.id!, scroll: SCROLL_TIMEOUT, filter_path: shown },
            options,
          ),
        signal,
      );
      scroll.id = answer._scroll_id ?? scroll.id;
    }
  } finally {
    await release(engine, scroll.id);
  }
}

const hitsOf = (answer: SearchResponse) => answer.hits?.hits ?? [];

/** Otherwise the engine releases it after its timeout. */
async function release({ run }: SearchEngineReader, scroll: string | undefined): Promise<void> {
  if (scroll)
    await run(
      (client, options) => client.clearScroll({ scroll_id: scroll }, options),
      new AbortController().signal,
    ).catch(() => {});
}

function batchRows({ generation, fields }: Scan): number {
  return Math.max(
    1,
    Math.floor(Math.min(BATCH_ROWS, BATCH_BYTES / meanRowBytes(generation), BATCH_VALUES / Math.max(fields.length, 1))),
  );
}

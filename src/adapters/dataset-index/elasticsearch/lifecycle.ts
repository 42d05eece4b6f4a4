import { setTimeout as delay } from 'node:timers/promises';
import type { Generation, GenerationId, IndexedField } from '../../../core/dataset-index.ts';
import { gone, unavailable } from '../../../core/errors.ts';
import type { SearchEngine } from './client.ts';
import { isNameTaken } from './engine-errors.ts';
import { mappingsOf } from './field-layout.ts';
import { withRetry } from './retry.ts';

/** A page has at most 10,000 rows; one more shows whether there is another page. */
const RESULT_WINDOW = 10_001;
/** Longer than the longest permitted `$regex`, which grows when it is translated to Lucene's syntax. */
const MAX_REGEX_LENGTH = 100_000;
const MIN_FIELD_LIMIT = 1000;
/** Number of times that a drop checks for open searches, and the pause between two checks. */
const MAX_SEARCH_CHECKS = 5;
const SEARCH_CHECK_PAUSE_MS = 100;
/** Maximum time for the creation of an index. */
const CREATE_TIMEOUT_MS = 30_000;
/** How long a failed attempt tries to remove its index. Afterwards the janitor does. */
export const CLEANING_MS = 10_000;

/** Returns the alias of an index that is being loaded. */
const loadingAlias = (index: string) => `${index}-loading`;

/**
 * Creates an index for a generation's documents and returns the alias to send them to. `refreshing` keeps the engine's
 * periodic refresh during the load.
 */
export async function createIndex(
  { client }: SearchEngine,
  index: string,
  fields: readonly IndexedField[],
  refreshing: boolean,
  signal: AbortSignal,
): Promise<string> {
  const alias = loadingAlias(index);
  const mappings = mappingsOf(fields);
  const settings = {
    number_of_shards: 1,
    number_of_replicas: 0,
    max_result_window: RESULT_WINDOW,
    max_regex_length: MAX_REGEX_LENGTH,
    'mapping.total_fields.limit': Math.max(MIN_FIELD_LIMIT, 2 * Object.keys(mappings.properties as object).length),
    // `publishIndex` counts the documents, so a loss of some in a crash before the flush is detected.
    'translog.durability': 'async',
    ...(refreshing ? {} : { refresh_interval: '-1' }),
  };
  await withRetry(signal, async () => {
    // Not aborted by the load's signal, otherwise the engine could create the index after it was removed.
    const options = { signal: AbortSignal.timeout(CREATE_TIMEOUT_MS), maxRetries: 0 };
    await client.indices
      .create({ index, settings, mappings, aliases: { [alias]: {} } }, options)
      .catch((error: unknown) => {
        // The response to an earlier attempt was lost.
        if (!isNameTaken(error)) throw error;
      });
  });
  signal.throwIfAborted();
  return alias;
}

/**
 * Publishes a loaded index: one request gives it the alias of the generation. If this throws before, the generation is
 * incomplete. Returns its size in bytes.
 */
export async function publishIndex(
  { client, names }: SearchEngine,
  id: GenerationId,
  index: string,
  records: number,
  signal: AbortSignal,
): Promise<number> {
  const step = <T>(call: (options: { signal: AbortSignal }) => Promise<T>) => withRetry(signal, () => call({ signal }));
  // A complete generation never changes: its copies are the same index. The engine adds a replica if another node has
  // space for it.
  await step((options) =>
    client.indices.putSettings(
      { index, settings: { 'blocks.write': true, auto_expand_replicas: '0-1', refresh_interval: '-1' } },
      options,
    ),
  );
  // A bulk request whose response was lost may still be processed, but its rows are already in the index.
  await step((options) => client.indices.refresh({ index }, options));
  await step((options) => client.indices.flush({ index, force: true }, options));
  const { count } = await step((options) => client.count({ index }, options));
  if (count !== records) throw unavailable(`The dataset index has stored ${count} of ${records} rows`);
  const stats = await step((options) => client.indices.stats({ index, metric: 'store' }, options));
  await step((options) =>
    client.indices.updateAliases(
      {
        actions: [
          { remove: { index, alias: loadingAlias(index), must_exist: false } },
          { add: { index, alias: names.alias(id) } },
        ],
      },
      options,
    ),
  );
  return stats._all?.primaries?.store?.size_in_bytes ?? 0;
}

/** Creates a generation with the same rows: another alias of the index, which never changes. */
export async function cloneIndex(
  engine: SearchEngine,
  from: Generation,
  id: GenerationId,
  signal: AbortSignal,
): Promise<void> {
  const [alias, copy] = [engine.names.alias(from.id), engine.names.alias(id)];
  try {
    await engine.run(async (client, options) => {
      const index = (await indexesOf(engine, from.id, options)).find(({ ids }) => ids.includes(from.id))?.name;
      if (!index) throw gone('These rows are no longer stored');
      // Removing the alias proves that it still exists when the other one is added: an index without is deleted.
      const actions = [
        { remove: { index, alias, must_exist: true } },
        { add: { index, alias } },
        { add: { index, alias: copy } },
      ];
      await client.indices.updateAliases({ actions }, options);
    }, signal);
  } catch (error) {
    // The response may have been lost.
    await dropIndexes(engine, id, AbortSignal.timeout(CLEANING_MS)).catch(() => {});
    throw error;
  }
}

/** An index of this installation. */
interface OwnIndex {
  name: string;
  /** The generation that it was created for. */
  owner: GenerationId;
  /** The complete generations that have its rows. */
  ids: GenerationId[];
}

/**
 * Removes a generation's alias, so that readers no longer find it, and deletes its indexes without other generations
 * and open searches. `listGenerations` returns those with open searches as incomplete, and a later call deletes them.
 */
export async function dropIndexes(engine: SearchEngine, id: GenerationId, signal: AbortSignal): Promise<void> {
  await engine.run(async (client, options) => {
    const alias = engine.names.alias(id);
    const found = await indexesOf(engine, id, options);
    const actions = found.flatMap(({ name, ids }) =>
      ids.includes(id) ? [{ remove: { index: name, alias, must_exist: false } }] : [],
    );
    if (actions.length > 0) await client.indices.updateAliases({ actions }, options);
    // Listed again, as another generation may have been added or removed before the alias was.
    let left = (
      await listIndexes(
        engine,
        found.map(({ name }) => name),
        options,
      )
    ).filter(({ ids }) => ids.length === 0);
    for (let check = 1; left.length > 0 && check <= MAX_SEARCH_CHECKS; check++) {
      if (check > 1) await delay(SEARCH_CHECK_PAUSE_MS, undefined, options);
      const { indices = {} } = await client.indices.stats(
        { index: left.map(({ name }) => name), metric: 'search', querystring: { ignore_unavailable: true } },
        options,
      );
      const searched = left.filter(({ name }) => (indices[name]?.total?.search?.open_contexts ?? 0) > 0);
      await removeIndexes(
        engine,
        left.filter((one) => !searched.includes(one)).map(({ name }) => name),
        options,
      );
      left = searched;
    }
  }, signal);
}

/** Removes indexes, including those in use. */
export async function removeIndexes(
  { client }: SearchEngine,
  index: string[],
  options: { signal: AbortSignal },
): Promise<void> {
  if (index.length > 0) await client.indices.delete({ index, ignore_unavailable: true }, options);
}

/** Lists all generations of this installation in the engine. An index without any is an incomplete one. */
export const listGenerations = (
  engine: SearchEngine,
  signal: AbortSignal,
): Promise<{ id: GenerationId; complete: boolean }[]> =>
  engine.run(async (_, options) => {
    const indexes = await listIndexes(engine, [engine.names.all()], options);
    return indexes.flatMap(({ owner, ids }) => {
      const complete = ids.length > 0;
      return (complete ? ids : [owner]).map((id) => ({ id, complete }));
    });
  }, signal);

/** Returns the indexes that were created for a generation or have its rows. */
const indexesOf = async (engine: SearchEngine, id: GenerationId, options: { signal: AbortSignal }) =>
  (await listIndexes(engine, [engine.names.ofGeneration(id), engine.names.alias(id)], options)).filter(
    ({ owner, ids }) => owner === id || ids.includes(id),
  );

async function listIndexes(
  { client, names }: SearchEngine,
  index: string[],
  options: { signal: AbortSignal },
): Promise<OwnIndex[]> {
  if (index.length === 0) return [];
  const found = await client.indices.getAlias({ index, ignore_unavailable: true }, options);
  return Object.entries(found).flatMap(([name, { aliases }]) => {
    const owner = names.ownerOf(name);
    return owner ? [{ name, owner, ids: Object.keys(aliases).flatMap((alias) => names.idOf(alias) ?? []) }] : [];
  });
}

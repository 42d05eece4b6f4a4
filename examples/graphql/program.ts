import type { ApolloClient } from '@apollo/client';
import { explain } from './errors.ts';
import type { DatasetsQuery } from './generated/graphql.ts';
import { CREATE_DATASET, CREATE_TOKEN, DATASETS, PROGRESS, REFRESH, ROWS, TWO_DATASETS } from './operations.ts';

type Datasets = DatasetsQuery['datasets']['items'];

/** Reads all datasets, two at a time, as a list that loads more at its end. The cache joins the pages. */
export async function listDatasets(client: ApolloClient): Promise<Datasets> {
  const list = client.watchQuery({ query: DATASETS, variables: { limit: 2 }, notifyOnNetworkStatusChange: false });
  const { promise, resolve, reject } = Promise.withResolvers<Datasets>();
  // Called again with the whole list after each page.
  const shown = list.subscribe(({ data, dataState, error }) => {
    if (error) reject(error);
    if (dataState !== 'complete') return;
    const { items, total, hasNextPage } = data.datasets;
    console.log(`${items.length} of ${total} datasets`);
    if (hasNextPage) list.fetchMore({ variables: { start: items.length } }).catch(reject);
    else resolve(items);
  });
  const datasets = await promise.finally(() => shown.unsubscribe());
  for (const { name, records } of datasets) console.log(`  ${name}: ${records ?? 0} rows`);
  return datasets;
}

/** Refreshes a dataset and prints the progress until the end. */
export async function refresh(client: ApolloClient, id: string): Promise<void> {
  const { data } = await client.mutate({ mutation: REFRESH, variables: { id } });
  const operationId = data!.refreshDataset.operation.id;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.subscribe({ query: PROGRESS, variables: { id: operationId } }).subscribe({
    next({ data: state, error }) {
      if (error) return reject(error);
      const { status, percent, message, error: failure } = state!.progress;
      console.log(['Refresh:', status, percent && `${Math.round(percent)} %`, message].filter(Boolean).join(' '));
      if (failure) console.log(`Refresh: ${failure.message}`);
    },
    error: reject,
    complete: resolve,
  });
  await promise;
}

/** Prints the first rows of a dataset. `network-only` reads them again after a refresh. */
export async function showRows(client: ApolloClient, id: string): Promise<void> {
  const { data } = await client.query({ query: ROWS, variables: { id, limit: 3 }, fetchPolicy: 'network-only' });
  const dataset = data?.dataset;
  if (!dataset) return;
  console.log(
    `${dataset.name}: ${dataset.data.total} rows of ${dataset.data.fields.map(({ name }) => name).join(', ')}`,
  );
  for (const row of dataset.data.items) console.log(`  ${Object.values(row).join(', ')}`);
}

/** Prints errors as a user sees them. With `errorPolicy: 'all'` an error does not hide the other data. */
export async function showErrors(client: ApolloClient, id: string): Promise<void> {
  const { data, error } = await client.query({
    query: TWO_DATASETS,
    variables: { first: id, second: 'no-such-dataset' },
    errorPolicy: 'all',
  });
  console.log(`Found besides the missing one: ${data?.first?.name}`);
  console.log(explain(error).join('\n'));

  const input = { name: '', slug: 'Not A Slug' };
  await client.mutate({ mutation: CREATE_DATASET, variables: { input } }).catch(print);
  await client.mutate({ mutation: CREATE_TOKEN, variables: { input: { name: 'Another' } } }).catch(print);
}

const print = (error: unknown): void => console.log(explain(error).join('\n'));

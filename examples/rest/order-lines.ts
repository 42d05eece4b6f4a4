/**
 * A dataset from a query, in TypeScript over REST: create, refresh, follow, read, and handle an error. Every path,
 * parameter, body and response is checked against the OpenAPI document. See README.md.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/api.d.ts';

type Schemas = components['schemas'];

const { DWS_URL = 'http://127.0.0.1:4000', DWS_TOKEN, DWS_DATASOURCE = 'demo-shop' } = process.env;
if (!DWS_TOKEN) {
  console.error('Set DWS_TOKEN to an API token, as README.md shows');
  process.exit(1);
}
const headers = { authorization: `Bearer ${DWS_TOKEN}` };
const api = createClient<paths>({ baseUrl: DWS_URL, headers });

const QUERY = `
  select i.order_id, o.ordered_at, c.country, i.amount
  from order_items i join orders o on o.id = i.order_id join customers c on c.id = o.customer_id
  where o.ordered_at >= {{since}}`;

/** An error response. `code` is for programs, `message` for people. */
class ServiceError extends Error {
  readonly body: Schemas['ErrorResponse'];

  constructor(body: Schemas['ErrorResponse']) {
    super(body.message);
    this.body = body;
  }
}

/** Returns the data of a response. Throws its error. */
function dataOf<Data>({ data, error }: { data?: Data; error?: Schemas['ErrorResponse'] }): Data {
  if (error) throw new ServiceError(error);
  return data!;
}

/** Creates a saved query and a dataset that follows it. */
async function createDataset(): Promise<Schemas['Dataset']> {
  const datasource = dataOf(await api.GET('/api/datasources/{id}', { params: { path: { id: DWS_DATASOURCE } } }));
  const query = dataOf(
    await api.POST('/api/queries', {
      body: {
        name: 'Order lines',
        datasourceId: datasource.id,
        query: QUERY,
        params: [{ name: 'since', dataType: 'date', defaultValue: '2000-01-01' }],
      },
    }),
  );
  return dataOf(await api.POST('/api/datasets', { body: { name: 'Order lines', queryId: query.id } }));
}

/** Loads the rows and waits for them. Returns their number. */
async function refresh(id: string): Promise<number> {
  const result = dataOf(await api.POST('/api/datasets/{id}/_refresh', { params: { path: { id } }, body: {} }));
  // Only with `Prefer: respond-async` is the response the record of the operation.
  return 'records' in result ? result.records : 0;
}

/** Loads the rows without waiting, and follows the operation by its server-sent events. Returns its last state. */
async function refreshAndFollow(id: string): Promise<Schemas['Operation']> {
  const { response, error } = await api.POST('/api/datasets/{id}/_refresh', {
    params: { path: { id }, header: { Prefer: 'respond-async' } },
    body: { params: { since: '2026-01-01' } },
  });
  if (error) throw new ServiceError(error);
  const events = await fetch(`${DWS_URL}${response.headers.get('location')}/events`, { headers });
  let operation: Schemas['Operation'] | undefined;
  let text = '';
  for await (const chunk of events.body!.pipeThrough(new TextDecoderStream())) {
    const messages = (text + chunk).split('\n\n');
    text = messages.pop()!;
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (data) operation = JSON.parse(data) as Schemas['Operation'];
    }
  }
  if (operation?.status !== 'succeeded') throw new Error(operation?.error?.message ?? 'The refresh did not finish');
  return operation;
}

/** Returns the largest amounts in France. A filter in the query string is JSON. */
async function largestInFrance(id: string): Promise<unknown[]> {
  const filter: Schemas['Criteria'] = { country: 'France', amount: { $gte: 100 } };
  const page = dataOf(
    await api.GET('/api/datasets/{id}/data', {
      params: {
        path: { id },
        query: { filter: JSON.stringify(filter), sort: '-amount', limit: 2, fields: ['country', 'amount'] },
      },
    }),
  );
  return page._embedded['svc:record'];
}

/** Sends a filter on a field that does not exist. Returns status, code and message of the error. */
async function wrongFilter(id: string): Promise<string> {
  try {
    dataOf(
      await api.POST('/api/datasets/{id}/_search', {
        params: { path: { id } },
        body: { filter: { contry: 'France' } },
      }),
    );
    return 'no error';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.body.statusCode} ${error.body.code}: ${error.message}`;
  }
}

const dataset = await createDataset();
console.log('dataset', dataset.slug);
console.log('rows', await refresh(dataset.id));
const { status, current, unit } = await refreshAndFollow(dataset.id);
console.log('refresh', status, current, unit);
console.log('largest', JSON.stringify(await largestInFrance(dataset.id)));
console.log('error', await wrongFilter(dataset.id));

/**
 * Measures the event loop of the process that receives requests while 8 documents are rendered concurrently:
 * `npm run build && node bench/renderings.ts [rows=5000] [seconds=10] [pdf=yes] [dist=dist]`. Prints Markdown. Each
 * document is a table of a dataset: HTML, CSV, text and PDF. `web` and `worker` are two processes; a preview runs in
 * `web`. In `all`, everything but the sandbox and the browser is in one process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TOKENS } from './fill.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { report, type Measurement } from './report.ts';
import { eventLoopDelay, withService, type Service } from './service.ts';

const { rows, seconds, pdf, dist } = readOptions({ rows: '5000', seconds: '10', pdf: 'yes', dist: 'dist' });
const AT_ONCE = 8;
/** Time before a measurement in which nothing is rendered, in milliseconds. */
const CALM_MS = 1000;

const TABLE = `<table><thead><tr><th>id</th><th>name</th><th>amount</th></tr></thead><tbody>
{% for row in rows.rows %}<tr><td>{{ row.id }}</td><td>{{ row.name }}</td><td>{{ row.amount | number(2) }}</td></tr>
{% endfor %}</tbody></table>`;
const LIST = `{% for row in rows.rows %}{{ row.id }},{{ row.name | csv }},{{ row.amount }}
{% endfor %}`;

/** Handlers of the documents that are rendered concurrently. */
const HANDLERS = ['html', 'csv', 'html', 'text', 'html', 'csv', 'html', pdf === 'yes' ? 'pdf' : 'html'];

/** Creates the template on a dataset of `rows` rows. Returns its path and the id of its file for lists. */
async function createTemplate({ call, createSource, base }: Service): Promise<{ path: string; listId: string }> {
  const { datasourceId } = await createSource(
    `create table line as select n as id, 'Name ' || n as name, n * 1.25 as amount from generate_series(1, ${rows}) n`,
  );
  const dataset = await call('POST', '/api/datasets', {
    name: 'Lines',
    datasourceId,
    query: 'select id, name, amount from line order by id',
    refresh: true,
  });
  const { id } = await call('POST', '/api/templates', { name: 'Lines' });
  const path = `/api/templates/${id}`;
  const addFile = async (filename: string, content: string): Promise<string> => {
    const form = new FormData();
    form.append('role', 'TEMPLATE');
    form.append('filename', filename);
    form.append('file', new Blob([content]), filename);
    return (await call('POST', `${path}/files/_upload`, form))['id'];
  };
  await addFile('table.njk', TABLE);
  const listId = await addFile('list.csv.njk', LIST);
  const processor = { name: 'rows', type: 'dataset', config: { datasetId: dataset['id'], limit: Number(rows) } };
  await call('PUT', `${path}/processors`, { processors: [processor] });
  return { path: `${base}${path}`, listId };
}

/** Renders documents until the time is over. Returns the number of those that were rendered. */
async function renderMany({ path, listId }: { path: string; listId: string }, preview: boolean): Promise<number> {
  const end = Date.now() + Number(seconds) * 1000;
  let count = 0;
  const renderOn = async (handler: string): Promise<void> => {
    const isList = handler === 'csv' || handler === 'text';
    const body = JSON.stringify({ handler, preview, ...(isList && { templateFileId: listId }) });
    const headers = { authorization: `Bearer ${TOKENS.superuser}`, 'content-type': 'application/json' };
    while (Date.now() < end) {
      const response = await fetch(`${path}/_render`, { method: 'POST', headers, body });
      const bytes = await response.arrayBuffer();
      if (!response.ok)
        throw new Error(`${handler}: ${response.status} ${Buffer.from(bytes).toString().slice(0, 500)}`);
      count += 1;
    }
  };
  await Promise.all(HANDLERS.map(renderOn));
  return count;
}

const lines: string[][] = [];
const measurements: Measurement[] = [];
for (const roles of [['web', 'worker'], ['all']] as const)
  await withService({ roles, dist, env: { LOG_LEVEL: 'silent', RATE_LIMIT_API: '0' } }, async (service) => {
    const template = await createTemplate(service);
    // Starts the sandbox and the browser.
    await renderMany(template, false);
    for (const preview of [false, true]) {
      await sleep(CALM_MS);
      await eventLoopDelay(service.base);
      const count = await renderMany(template, preview);
      const delay = await eventLoopDelay(service.base);
      const what = preview ? 'previews' : `documents of ${rows} rows`;
      lines.push([roles[0], what, String(AT_ONCE), (count / Number(seconds)).toFixed(1), delay.toFixed(1)]);
      if (roles[0] === 'web')
        measurements.push({
          what: `event loop delay p99 of web, ${AT_ONCE} ${what} concurrently`,
          goal: 'renderDelay',
          value: delay,
        });
    }
  });
printTable(['process', 'what', 'at once', 'documents/s', 'event loop delay p99 ms (goal 50)'], lines);
report(measurements);

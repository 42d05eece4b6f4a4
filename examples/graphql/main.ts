import { connect } from './client.ts';
import { explain } from './errors.ts';
import { logIn } from './log-in.ts';
import { listDatasets, refresh, showErrors, showRows } from './program.ts';

const { DWS_URL = 'http://127.0.0.1:4000', DWS_USERNAME = 'admin', DWS_PASSWORD = '' } = process.env;

/** Lists the datasets, refreshes the first one and shows its rows, then some errors. */
async function run(): Promise<void> {
  const { client, close } = connect(DWS_URL, await logIn(DWS_URL, DWS_USERNAME, DWS_PASSWORD));
  try {
    const [first] = await listDatasets(client);
    if (!first) return;
    await refresh(client, first.id);
    await showRows(client, first.id);
    await showErrors(client, first.id);
  } finally {
    await close();
  }
}

try {
  await run();
} catch (error) {
  console.error(explain(error).join('\n'));
  process.exitCode = 1;
}

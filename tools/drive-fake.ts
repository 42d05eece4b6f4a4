/**
 * Runs a fake of a cloud drive on loopback, for tests and to try libraries without an account:
 *
 *   node tools/drive-fake.ts <provider> [--port 4010] [--page-size 100]
 *
 * Providers are google-drive, dropbox, onedrive, onedrive-business, sharepoint and box. It has the provider's own protocol
 * and no files at first. `curl -d '{"path": "a/b.txt", "text": "hello"}' http://127.0.0.1:4010/_control/put` adds one;
 * `move`, `trash`, `delete` and more are in tools/drive-fake/fake-control.ts.
 */
import { parseArgs } from 'node:util';
import { BOX_PROTOCOL } from './drive-fake/box.ts';
import { DROPBOX_PROTOCOL } from './drive-fake/dropbox.ts';
import { DriveFake, type FakeProtocol } from './drive-fake/fake-server.ts';
import { GOOGLE_PROTOCOL } from './drive-fake/google-drive.ts';
import { ONEDRIVE_BUSINESS_PROTOCOL, ONEDRIVE_PROTOCOL, SHAREPOINT_PROTOCOL } from './drive-fake/onedrive.ts';

const PROTOCOLS: Readonly<Record<string, FakeProtocol>> = {
  'google-drive': GOOGLE_PROTOCOL,
  dropbox: DROPBOX_PROTOCOL,
  onedrive: ONEDRIVE_PROTOCOL,
  'onedrive-business': ONEDRIVE_BUSINESS_PROTOCOL,
  sharepoint: SHAREPOINT_PROTOCOL,
  box: BOX_PROTOCOL,
};

/** Starts a fake drive of a provider. Port 0 is any free one. Contents come from the next port. */
export async function startDriveFake(provider: string, port = 0): Promise<DriveFake> {
  const protocol = PROTOCOLS[provider];
  if (!protocol) throw new Error(`The providers are ${Object.keys(PROTOCOLS).join(', ')}`);
  const fake = new DriveFake(protocol);
  await fake.listen(port);
  return fake;
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { port: { type: 'string', default: '4010' }, 'page-size': { type: 'string', default: '100' } },
  });
  try {
    const fake = await startDriveFake(positionals[0] ?? '', Number(values.port));
    fake.pageSize = Number(values['page-size']);
    console.log(JSON.stringify({ type: fake.protocol.type, ...fake.registration }, null, 2));
  } catch (error) {
    console.error((error as Error).message);
    console.error('usage: node tools/drive-fake.ts <provider> [--port 4010] [--page-size 100]');
    process.exitCode = 1;
  }
}

/**
 * Runs the fakes of the walk on loopback until it is interrupted: a Google Drive on port 4010, with its contents on 4011,
 * and an AI provider on port 4020, with its images on 4021.
 *
 *   npm run fakes [-- --drive-port 4010 --ai-port 4020]
 *
 * The service calls them only with `OUTBOUND_ALLOW=127.0.0.1`. Their control APIs: tools/drive-fake.ts, tools/ai-fake.ts.
 */
import { parseArgs } from 'node:util';
import { startAiFake } from './ai-fake.ts';
import { startDriveFake } from './drive-fake.ts';

const { values } = parseArgs({
  options: { 'drive-port': { type: 'string', default: '4010' }, 'ai-port': { type: 'string', default: '4020' } },
});
try {
  const drive = await startDriveFake('google-drive', Number(values['drive-port']));
  drive.pageSize = 100;
  const ai = await startAiFake(Number(values['ai-port']));
  console.log(`Google Drive at ${drive.origin}, AI provider at ${new URL(ai.provider.baseUrl).origin}`);
  console.log('The service calls them if it was started with OUTBOUND_ALLOW=127.0.0.1');
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

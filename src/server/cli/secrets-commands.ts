import type { Command } from 'commander';
import { readConfig } from '../../core/config.ts';
import { forgetKey, formatUse } from '../../services/secrets/sealed-values.ts';
import { readKeyReport, type KeyReport } from './key-status.ts';
import { withClient, withSystem } from './operator-database.ts';

/** Adds the commands about the keys of `APP_SECRET`. See docs/contract/running.md#keys. */
export function addSecretsCommands(program: Command): void {
  const secrets = program.command('secrets').description('manage the keys of APP_SECRET');
  secrets
    .command('status')
    .description('count the encrypted values under each key; at 0 left, former keys are no longer needed')
    .option('--json', 'print one JSON object: left, and fingerprint, state, values and tables of each key')
    .action(async ({ json = false }: { json?: boolean }) => {
      const report = await readReport();
      console.log(json ? JSON.stringify(report, null, 2) : formatReport(report));
    });
  secrets
    .command('forget <fingerprint>')
    .description('accept that a missing key is lost, so that the service starts; its values stay unreadable')
    .action(async (fingerprint: string) => {
      const { keys } = await readReport();
      const key = keys.find((one) => one.fingerprint === fingerprint);
      if (key?.state !== 'missing')
        throw new Error(`${fingerprint} is not a missing key; \`dws secrets status\` lists the keys`);
      await withSystem((system) => forgetKey((statement) => system.query(statement), fingerprint));
      console.log(`The service starts without the key. Unreadable until it is back: ${formatUse(key)}.`);
    });
}

const readReport = (): Promise<KeyReport> => {
  const config = readConfig();
  return withClient(config, 'dws secrets', (client) => readKeyReport(client, config));
};

/** Returns one line for each key, and how many values are left under former keys. */
const formatReport = ({ keys, left }: KeyReport): string =>
  [
    ...keys.map((key) => `${key.state.padEnd(8)}${key.values > 0 ? formatUse(key) : `${key.fingerprint} (none)`}`),
    left === 0
      ? '0 values left: no former key is needed for them. Backups need the keys of their time.'
      : `${left} values left under other keys than the newest.`,
  ].join('\n');

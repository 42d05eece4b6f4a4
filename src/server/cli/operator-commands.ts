import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readConfig } from '../../core/config.ts';
import { quoteUpstream } from '../../core/outbound.ts';
import { createTenant, createUser } from '../../services/identity/bootstrap.ts';
import {
  createToken,
  listTenants,
  listTokens,
  listUsers,
  resetPassword,
  revokeToken,
  unlockUser,
} from '../../services/identity/operator.ts';
import { writeBackup } from '../backup/backup.ts';
import { neededKeys, openBackup, restoreBackup } from '../backup/restore.ts';
import type { AppFailure } from '../backup/workspaces.ts';
import { migrate } from '../migrate.ts';
import { administratorSql } from './administrator-sql.ts';
import { doctor, formatCheck, type CheckResult } from './doctor.ts';
import { withAuditedSystem } from './operator-audit.ts';
import { withDatabase, withSystem } from './operator-database.ts';

interface UserOptions {
  tenant: string;
  password: string;
  superuser?: boolean;
}

/**
 * Adds the commands of operators: migrations, tenants, users, tokens, checks. See docs/contract/running.md#running-it.
 */
export function addOperatorCommands(program: Command): void {
  program
    .command('migrate')
    .description('update the database to this version')
    .action(async () => {
      const ran = await withDatabase(readConfig(), ({ url }) => migrate(url));
      console.log(ran.length ? `Ran ${ran.join(', ')}` : 'The database is up to date.');
    });
  program
    .command('doctor')
    .description('check everything that the service needs, one line each')
    .option('--json', 'print one JSON object: isHealthy, and name, passed and detail of each check')
    .option(
      '--sql',
      'print the SQL that an administrator of an own Postgres runs before the first start, and check nothing',
    )
    .action(async ({ json = false, sql = false }: { json?: boolean; sql?: boolean }) => {
      if (sql) {
        const statements = await administratorSql();
        console.log(statements.length > 0 ? statements.join('\n') : '-- Nothing is missing.');
        return;
      }
      const checks: CheckResult[] = [];
      const isHealthy = await doctor((check) => {
        checks.push(check);
        if (!json) console.log(formatCheck(check));
      });
      if (json) console.log(JSON.stringify({ isHealthy, checks }, null, 2));
      if (!isHealthy) process.exitCode = 1;
    });
  program
    .command('backup <file>')
    .description('write database, files and dataset rows to one archive; the service may run')
    .action(async (file: string) => {
      const config = readConfig();
      const { tables, files, datasets, failures } = await withDatabase(config, ({ url }) =>
        untilSignal((signal) => writeBackup(url, config, file, signal)),
      );
      console.log(`Wrote ${tables} tables, ${files} files and ${datasets} sets of dataset rows to ${file}.`);
      console.log('APP_SECRET is not in it: store it separately.');
      reportFailures(failures, 'are not in the backup');
    });
  program
    .command('restore <file>')
    .description('restore a backup into an empty installation of the same or a newer version')
    .action(async (file: string) => {
      const config = readConfig();
      // Read before the database is started.
      const backup = await openBackup(file);
      const needed = neededKeys(config, backup.manifest);
      const missing = needed.filter(({ isPresent }) => !isPresent).map(({ fingerprint }) => fingerprint);
      if (needed.length > 0) console.log(`The backup needs ${listKeys(needed.map(({ fingerprint }) => fingerprint))}.`);
      if (missing.length > 0) console.log(`APP_SECRET does not have ${listKeys(missing)}. ${SET_KEYS}`);
      const restored = await withDatabase(config, ({ url }) =>
        untilSignal((signal) => restoreBackup(url, config, backup, signal)),
      );
      const { createdAt, tables, files, datasets, failures } = restored;
      console.log(`Restored ${tables} tables, ${files} files and ${datasets} sets of dataset rows of ${createdAt}.`);
      if (missing.length > 0) console.log(`Before the start: APP_SECRET does not have ${listKeys(missing)}.`);
      reportFailures(failures, 'were not restored');
    });
  tenantCommands(program.command('tenant').description('manage tenants'));
  userCommands(program.command('user').description('manage users'));
  tokenCommands(program.command('token').description('manage API tokens'));
}

const SET_KEYS = 'Set APP_SECRET, or restore DATA_DIR/secret, before the start.';

/** Returns e.g. `the keys 12ab…, 34cd…`. */
const listKeys = (fingerprints: readonly string[]): string =>
  `the ${fingerprints.length === 1 ? 'key' : 'keys'} ${fingerprints.join(', ')}`;

/** Prints the apps whose tables are missing, and fails the command. */
function reportFailures(failures: readonly AppFailure[], outcome: string): void {
  for (const { appId, reason } of failures)
    console.error(`The tables of app ${appId} ${outcome}: ${quoteUpstream(reason)}`);
  if (failures.length > 0) process.exitCode = 1;
}

/** Runs `work` with a signal that SIGINT and SIGTERM abort, so that it can remove what it has written. */
async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const onSignal = (name: NodeJS.Signals) => stopping.abort(new Error(`Interrupted by ${name}`));
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    return await work(stopping.signal);
  } finally {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  }
}

function tenantCommands(tenant: Command): void {
  tenant
    .command('create <slug>')
    .description('create a tenant')
    .action(async (slug: string) => {
      await withAuditedSystem({ action: 'createTenant', tenant: slug, kind: 'tenant', name: slug }, (system) =>
        createTenant(system, slug),
      );
      console.log(`Created tenant "${slug}".`);
    });
  tenant
    .command('list')
    .description('list all tenants with their numbers of users')
    .action(async () => {
      for (const { slug, users } of await withSystem(listTenants))
        console.log(`${slug}\t${users} ${users === 1 ? 'user' : 'users'}`);
    });
}

function userCommands(user: Command): void {
  user
    .command('create <name>')
    .description('create a user')
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .requiredOption('--password <pw>', 'password of at least 12 characters; - reads it from standard input')
    .option('--superuser', 'grant all permissions in the tenant')
    .action(async (name: string, { tenant, password, superuser = false }: UserOptions) => {
      const newPassword = password === '-' ? (await text(process.stdin)).replace(/\r?\n$/, '') : password;
      await withAuditedSystem({ action: 'createUser', tenant, kind: 'user', name }, (system) =>
        createUser(system, tenant, name, newPassword, superuser),
      );
      console.log(`Created ${superuser ? 'superuser' : 'user'} "${name}" of tenant "${tenant}".`);
    });
  user
    .command('list')
    .description('list the users of a tenant: username, user or superuser, and enabled, disabled or locked')
    .option('--tenant <slug>', 'tenant of the users', 'default')
    .action(async ({ tenant }: { tenant: string }) => {
      for (const { username, superuser, state } of await withSystem((system) => listUsers(system, tenant)))
        console.log([username, superuser ? 'superuser' : 'user', state].join('\t'));
    });
  user
    .command('unlock <name>')
    .description('unlock a user whom failed logins or an administrator have locked')
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .action(async (name: string, { tenant }: { tenant: string }) => {
      await withAuditedSystem({ action: 'unlockUser', tenant, kind: 'user', name }, (system) =>
        unlockUser(system, tenant, name),
      );
      console.log(`Unlocked "${name}".`);
    });
  user
    .command('reset-password <name>')
    .description(
      'set a new random password, print it, and end all sessions of the user; a lock by an administrator stays',
    )
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .action(async (name: string, { tenant }: { tenant: string }) => {
      console.log(
        await withAuditedSystem({ action: 'resetPassword', tenant, kind: 'user', name }, (system) =>
          resetPassword(system, tenant, name),
        ),
      );
    });
}

function tokenCommands(token: Command): void {
  token
    .command('create <user>')
    .description('create a token with the scopes read and write; prints the token')
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .option('--name <name>', 'name of the token', 'created on the command line')
    .action(async (username: string, { tenant, name }: { tenant: string; name: string }) => {
      console.log(
        await withAuditedSystem({ action: 'createToken', tenant, kind: 'user', name: username }, (system) =>
          createToken(system, tenant, username, name),
        ),
      );
    });
  token
    .command('list [user]')
    .description('list tokens: id, username, first characters, scopes, last use, expiry, name')
    .option('--tenant <slug>', 'tenant of the tokens', 'default')
    .action(async (username: string | undefined, { tenant }: { tenant: string }) => {
      const day = (date: Date | null) => date?.toISOString().slice(0, 10) ?? 'never';
      for (const found of await withSystem((system) => listTokens(system, tenant, username))) {
        const { id, prefix, scopes, lastUsedAt, expiresAt, name } = found;
        const columns = [id, found.username, `${prefix}…`, scopes.join(','), day(lastUsedAt), day(expiresAt), name];
        console.log(columns.join('\t'));
      }
    });
  token
    .command('revoke <id>')
    .description('delete the token with this id, which becomes invalid immediately')
    .option('--tenant <slug>', 'tenant of the token', 'default')
    .action(async (id: string, { tenant }: { tenant: string }) => {
      await withAuditedSystem({ action: 'deleteToken', tenant, kind: 'token', name: id }, (system) =>
        revokeToken(system, tenant, id),
      );
      console.log(`Revoked the token ${id}.`);
    });
}

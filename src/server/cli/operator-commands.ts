import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readConfig } from '../../core/config.ts';
import { createTenant, createUser } from '../../services/identity/bootstrap.ts';
import { createToken, listTenants, resetPassword, unlockUser } from '../../services/identity/operator.ts';
import { migrate } from '../migrate.ts';
import { doctor } from './doctor.ts';
import { withAuditedSystem } from './operator-audit.ts';
import { withDatabase, withSystem } from './operator-database.ts';

interface UserOptions {
  tenant: string;
  password: string;
  superuser?: boolean;
}

/** What an operator does on the machine: migrations, tenants, users, tokens, health (contract 1, "CLI"). */
export function operatorCommands(program: Command): void {
  program
    .command('migrate')
    .description('bring the database up to date')
    .action(async () => {
      const ran = await withDatabase(readConfig(), ({ url }) => migrate(url));
      console.log(ran.length ? `Ran ${ran.join(', ')}` : 'The database is up to date.');
    });
  program
    .command('doctor')
    .description('check everything the service needs; one line each')
    .action(async () => {
      if (!(await doctor(console.log))) process.exitCode = 1;
    });
  tenantCommands(program.command('tenant').description('tenants'));
  userCommands(program.command('user').description('users'));
  program
    .command('token')
    .description('API tokens')
    .command('create <user>')
    .description('make a token that reads and writes as the user')
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .option('--name <name>', 'what it is for', 'made on the command line')
    .action(async (username: string, { tenant, name }: { tenant: string; name: string }) => {
      console.log(
        await withAuditedSystem({ action: 'createToken', tenant, kind: 'user', name: username }, (system) =>
          createToken(system, tenant, username, name),
        ),
      );
    });
}

function tenantCommands(tenant: Command): void {
  tenant
    .command('create <slug>')
    .description('make a tenant')
    .action(async (slug: string) => {
      await withAuditedSystem({ action: 'createTenant', tenant: slug, kind: 'tenant', name: slug }, (system) =>
        createTenant(system, slug),
      );
      console.log(`Made tenant "${slug}".`);
    });
  tenant
    .command('list')
    .description('list the tenants')
    .action(async () => {
      for (const { slug, users } of await withSystem(listTenants))
        console.log(`${slug}\t${users} ${users === 1 ? 'user' : 'users'}`);
    });
}

function userCommands(user: Command): void {
  user
    .command('create <name>')
    .description('make a user')
    .requiredOption('--tenant <slug>', 'tenant of the user')
    .requiredOption('--password <pw>', 'at least 12 characters; - reads it from standard input')
    .option('--superuser', 'may do everything in the tenant')
    .action(async (name: string, { tenant, password, superuser = false }: UserOptions) => {
      const given = password === '-' ? (await text(process.stdin)).replace(/\r?\n$/, '') : password;
      await withAuditedSystem({ action: 'createUser', tenant, kind: 'user', name }, (system) =>
        createUser(system, tenant, name, given, superuser),
      );
      console.log(`Made ${superuser ? 'superuser' : 'user'} "${name}" of tenant "${tenant}".`);
    });
  user
    .command('unlock <name>')
    .description('let a locked user log in again')
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .action(async (name: string, { tenant }: { tenant: string }) => {
      await withAuditedSystem({ action: 'unlockUser', tenant, kind: 'user', name }, (system) =>
        unlockUser(system, tenant, name),
      );
      console.log(`"${name}" may log in again.`);
    });
  user
    .command('reset-password <name>')
    .description('give a user a new password, shown once, and end their sessions')
    .option('--tenant <slug>', 'tenant of the user', 'default')
    .action(async (name: string, { tenant }: { tenant: string }) => {
      console.log(
        await withAuditedSystem({ action: 'resetPassword', tenant, kind: 'user', name }, (system) =>
          resetPassword(system, tenant, name),
        ),
      );
    });
}

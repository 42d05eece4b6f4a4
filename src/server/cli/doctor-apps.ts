import type pg from 'pg';
import type { WorkspaceInspection } from '../../core/app-workspace.ts';
import type { Config } from '../../core/config.ts';
import { APP_SCHEMAS } from '../../operations/workspace-sweeper.ts';
import { openWorkspaces } from '../backup/workspaces.ts';

/**
 * Checks the database of the apps: that it responds, that the login may create workspaces, that every app with a
 * workspace has its schema, and which definitions apps can read of each other.
 */
export async function checkApps(client: pg.Client, url: string, config: Config): Promise<string> {
  const { workspaces, close } = await openWorkspaces(client, url, config);
  try {
    const found = await workspaces.inspect();
    checkRights(found);
    const warnings = warningsOf(found, config);
    if (!found.exists)
      return [`"${found.database}" does not exist yet; the first migration of an app creates it`, ...warnings].join(
        '; ',
      );
    const { rows } = await client.query<{ schema: string; isUsed: boolean }>(
      `select a.schema, app.schema_name is not null as "isUsed" from (${APP_SCHEMAS}) a join dws.app on app.id = a.id`,
    );
    const present = new Set(found.schemas);
    const missing = rows.filter(({ schema, isUsed }) => isUsed && !present.has(schema));
    if (missing.length > 0)
      throw new Error(
        missing.length === 1
          ? `the schema ${missing[0]!.schema} of an app is missing in "${found.database}"; run the migrations of this app`
          : `the schemas of ${missing.length} apps are missing in "${found.database}", e.g. ${missing[0]!.schema}; ` +
              'run the migrations of these apps',
      );
    const leftovers = found.schemas.filter((schema) => !rows.some((row) => row.schema === schema)).length;
    return [...describe(found, leftovers), ...warnings].join('; ');
  } finally {
    await close();
  }
}

/** Throws a sentence if the login lacks a right to create workspaces. */
function checkRights({ exists, database, login }: WorkspaceInspection): void {
  const { name, isSuperuser, mayCreateDatabases, mayCreateRoles } = login;
  if (isSuperuser) return;
  if (!mayCreateRoles) throw new Error(`the login "${name}" may not create roles: run alter role "${name}" createrole`);
  if (!exists && !mayCreateDatabases)
    throw new Error(`"${database}" is missing, and the login "${name}" may not create it: create it with this owner`);
}

function describe({ database, schemas, openParts, login }: WorkspaceInspection, leftovers: number): string[] {
  const parts = [`"${database}" responds, ${countOf(schemas.length, 'workspace')}`];
  if (leftovers > 0) parts.push(`${leftovers} of no app, which a worker deletes`);
  // The first migration after a start hides them.
  if (openParts.length > 0)
    parts.push(
      `apps can read definitions of each other in ${countOf(openParts.length, 'part')} of the catalog, not rows` +
        (login.isSuperuser ? ' until the next migration' : `, as the login "${login.name}" is not a superuser`),
    );
  return parts;
}

/** Returns the limits that the service cannot apply to the statements of apps. */
function warningsOf({ isShared, login }: WorkspaceInspection, { DATABASE_URL }: Config): string[] {
  const warnings: string[] = [];
  if (!login.mayLimitTempFiles)
    warnings.push(
      `the login "${login.name}" cannot set temp_file_limit, so that a statement of an app can fill the disk of the ` +
        `server: run grant set on parameter temp_file_limit to "${login.name}"`,
    );
  if (DATABASE_URL !== undefined && isShared)
    warnings.push(
      'apps share the server of DATABASE_URL, whose memory a statement can use up: set APPS_DATABASE_URL to a server of ' +
        'its own, with LimitDATA= in its unit',
    );
  return warnings;
}

/** Formats a number of things, e.g. `1 workspace`. */
const countOf = (count: number, noun: string): string => `${count} ${count === 1 ? noun : `${noun}s`}`;

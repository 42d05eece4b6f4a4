import type { Platform } from '../core/platform.ts';
import { repeatPass } from './repeated-pass.ts';

/** SQL for the schema of each app, like `schemaNameOf`. */
export const APP_SCHEMAS = `
  select id, 'app_' || left(encode(sha256(convert_to(tenant_id || ':' || id, 'UTF8')), 'hex'), 20) as schema from dws.app`;

/** Deletes the workspaces of apps that do not exist: their app was deleted while the apps' database did not respond. */
export async function sweepWorkspaces({ workspaces, system, log }: Platform): Promise<void> {
  const swept = await workspaces.sweep(async (schemas) => {
    const rows = await system.query<{ schema: string }>({
      text: `select schema from (${APP_SCHEMAS}) a where schema = any($1)`,
      values: [schemas],
    });
    return rows.map(({ schema }) => schema);
  });
  for (const schema of swept) log.info({ schema }, 'Deleted the workspace of an app that does not exist');
}

/** Sweeps workspaces every `interval` milliseconds. */
export const startWorkspaceSweeper = (
  platform: Platform,
  { interval }: { interval: number },
): { stop(): Promise<void> } =>
  repeatPass(platform, { interval, delay: interval, failureMessage: 'Could not sweep the workspaces of apps' }, () =>
    sweepWorkspaces(platform),
  );

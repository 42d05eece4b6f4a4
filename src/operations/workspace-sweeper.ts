import type { Platform } from '../core/platform.ts';

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
export function startWorkspaceSweeper(
  platform: Platform,
  { interval }: { interval: number },
): { stop(): Promise<void> } {
  let pass: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      await sweepWorkspaces(platform);
    } catch (error) {
      platform.log.warn({ err: error }, 'Could not sweep the workspaces of apps');
    }
  };
  const timer = setInterval(() => {
    pass = pass.then(run);
  }, interval);
  return {
    async stop() {
      clearInterval(timer);
      await pass;
    },
  };
}

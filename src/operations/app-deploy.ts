import { App } from '../../entities/app.ts';
import type { Platform } from '../core/platform.ts';
import { checkCode } from '../services/app/app-code.ts';
import { createRelease, filesChanged, loadReleaseFiles, type ReleaseFile } from '../services/app/app-release.ts';
import { isCode } from '../services/app/app-route-path.ts';
import { deleteUnreferenced } from '../services/resource/stored-file.ts';
import { runMigrations } from './app-migrate.ts';
import type { Handler } from './handler.ts';

/** Deploys an app: checks its code, runs its migrations, and switches to a new release. */
export const appDeploy: Handler<'app.deploy'> = {
  takeover: false,
  async run(job, platform) {
    const { tenantId, userId } = job;
    const { appId } = job.input;
    const query = <R extends Record<string, unknown>>(statement: Parameters<typeof platform.system.query>[0]) =>
      platform.database.query<R>(tenantId, statement);
    const files = await loadReleaseFiles(query, tenantId, appId);
    const sources = await readModules(platform, files);
    const code = await checkCode(platform.sandbox, sources, { caller: { tenantId, userId }, signal: job.signal });
    const { migrated, total } = await runMigrations(platform, job, { tenantId, appId }, false);
    let formerFiles: string[] = [];
    return {
      async publish(tx) {
        const created = await createRelease(tx, appId, { ...code, files, deployedBy: userId });
        ({ formerFiles } = created);
        const { id, deployedAt } = created.release;
        return { releaseId: id, migrated, total, ...code, deployedAt: deployedAt.toISOString() };
      },
      release: () => deleteUnreferenced({ platform, query }, formerFiles),
    };
  },
  /** The release before stays. */
  async onFailure({ tenantId: _tenant, input }, _failure, tx) {
    const app = await tx.findOne(App, { id: input.appId }, { lock: 'update' });
    if (app) app.status = 'failed';
  },
};

/** Reads the modules among the files of an app. Throws CONFLICT for a module that was replaced during the deployment. */
async function readModules(
  { files: store }: Platform,
  files: readonly ReleaseFile[],
): Promise<Map<string, Uint8Array>> {
  const sources = new Map<string, Uint8Array>();
  for (const { path, fileId } of files.filter((file) => isCode(file.path))) {
    const content = await store.read(fileId);
    if (!content) throw filesChanged();
    sources.set(path, content);
  }
  return sources;
}

import { SqlFailure, type AppWorkspaces, type WorkspaceSource } from '../../../core/app-workspace.ts';
import { upstreamFailed } from '../../../core/errors.ts';
import type { Driver } from '../../../core/row-source.ts';
import { workOn } from '../postgres/postgres-driver.ts';
import type { ServerTarget } from '../server-config.ts';
import { ServerConnection } from '../server-connection.ts';

const configSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['appId'],
  properties: {
    appId: { type: 'string', minLength: 36, maxLength: 36, description: 'Id of the app whose tables are read.' },
  },
};

const secretsSchema = { type: 'object', additionalProperties: false, properties: {} };

/** Creates the driver of the tables of apps. It reads them under the role of the app, like any Postgres. */
export function createAppDriver(workspaces: Pick<AppWorkspaces, 'locate' | 'watch'> | undefined): Driver {
  return {
    id: 'app',
    name: 'App',
    defaultPort: null,
    features: ['sql', 'parameters', 'schema', 'cancel'],
    configSchema,
    secretsSchema,
    ...(workspaces && {
      locate: ({ appId }: Record<string, unknown>, tenantId: string) =>
        workspaces.locate({ tenantId, appId: String(appId) }),
    }),
    connect(config, secrets) {
      const target = targetOf({ config, secrets });
      const work = workOn(target, null);
      return new ServerConnection(async () => ({
        ...work,
        withSession: (limits, task) =>
          work.withSession(limits, (session) => {
            const connection = { role: target.user, backend: session.backend };
            const running = () => task(session);
            return workspaces ? workspaces.watch(connection, running).catch(toUpstreamFailure) : running();
          }),
        // The role may write, because the app does. The driver reads in read-only transactions.
        inspect: async (session) => ({ ...(await work.inspect(session)), warnings: [] }),
      }));
    },
  };
}

/** Throws UPSTREAM_FAILED for the end of a connection that used too much memory. */
function toUpstreamFailure(error: unknown): never {
  throw error instanceof SqlFailure ? upstreamFailed(error.message, { cause: error }) : error;
}

function targetOf({ config, secrets }: WorkspaceSource): ServerTarget {
  const { host, port, database, user, ssl, options } = config as Omit<ServerTarget, 'ssl'> & {
    ssl: NonNullable<ServerTarget['operated']>['tls'];
    options: string;
  };
  return {
    host,
    port,
    database,
    user,
    password: secrets['password'] ?? '',
    ssl: 'disable',
    operated: { tls: ssl, options },
  };
}

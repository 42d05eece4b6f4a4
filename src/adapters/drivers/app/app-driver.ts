import type { AppWorkspaces, WorkspaceSource } from '../../../core/app-workspace.ts';
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
export function createAppDriver(workspaces: Pick<AppWorkspaces, 'locate'> | undefined): Driver {
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
        // The role may write, because the app does. The driver reads in read-only transactions.
        inspect: async (session) => ({ ...(await work.inspect(session)), warnings: [] }),
      }));
    },
  };
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

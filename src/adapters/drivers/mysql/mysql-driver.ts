import type { Driver } from '../../../core/row-source.ts';
import { serverConfig } from '../server-config.ts';
import { ServerConnection } from '../server-connection.ts';

/** `config` and `secrets` of a datasource. The longest names are user names of MariaDB. */
const mysqlConfig = serverConfig({ port: 3306, nameLength: 128 });

/**
 * Driver of MySQL, 8 and newer, and MariaDB, 10.5 and newer. The protocol's client needs 25 MB of memory, so it is
 * loaded with the first session.
 */
export function createMysqlDriver(): Driver {
  const { configSchema, secretsSchema, readTarget } = mysqlConfig;
  return {
    id: 'mysql',
    name: 'MySQL / MariaDB',
    defaultPort: 3306,
    features: ['sql', 'parameters', 'schema', 'cancel', 'ssl'],
    configSchema,
    secretsSchema,
    connect(config, secrets) {
      const target = readTarget(config, secrets);
      return new ServerConnection(async () => (await import('./mysql-work.ts')).workOn(target));
    },
  };
}

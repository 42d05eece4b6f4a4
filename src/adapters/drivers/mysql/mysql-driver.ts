import type { Driver } from '../../../core/row-source.ts';
import type { ServerTarget } from '../server-config.ts';
import { ServerConnection, type ServerWork } from '../server-connection.ts';
import { inspectRole, readSchema } from './catalog.ts';
import { mysqlConfig } from './mysql-config.ts';
import { copyRows, selectRows } from './rows.ts';
import { withSession, type Session } from './session.ts';
import { begin, prepare, type PreparedStatement } from './statement.ts';

/** The driver of MySQL, 8 and newer, and MariaDB, 10.5 and newer. */
export function createMysqlDriver(): Driver {
  const { configSchema, secretsSchema, readTarget } = mysqlConfig;
  return {
    id: 'mysql', name: 'MySQL / MariaDB', defaultPort: 3306, features: ['sql', 'parameters', 'schema', 'cancel', 'ssl'], configSchema, secretsSchema,
    connect: (config, secrets) => new ServerConnection(workOn(readTarget(config, secrets))),
  };
}

const workOn = (target: ServerTarget): ServerWork<Session, PreparedStatement> => ({
  withSession: (limits, work) => withSession({ ...limits, target }, work),
  prepare, begin,
  copy: copyRows,
  select: selectRows,
  schema: readSchema,
  inspect: (session) => inspectRole(session, target.ssl !== 'disable'),
});

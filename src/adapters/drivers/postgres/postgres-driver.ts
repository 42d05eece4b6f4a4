import type { Driver } from '../../../core/row-source.ts';
import type { SegmentWriter } from '../segment-files.ts';
import { type ServerTarget, serverConfig } from '../server-config.ts';
import { ServerConnection, type ServerWork } from '../server-connection.ts';
import type { DatabaseIdentity } from '../source-guard.ts';
import { inspectRole, readSchema } from './catalog.ts';
import { copyOut } from './copy-out.ts';
import { selectRows } from './select-rows.ts';
import { type Session, withSession } from './session.ts';
import { type PreparedStatement, begin, estimate, prepare } from './statement.ts';

/** `config` and `secrets` of a Postgres datasource. Postgres cuts names at 63 bytes. */
const postgresConfig = serverConfig({ port: 5432, nameLength: 63 });

/** Creates the driver of Postgres databases, 10 and newer. `ownDatabase` is refused as a source. */
export function createPostgresDriver(ownDatabase: DatabaseIdentity | null): Driver {
  const { configSchema, secretsSchema, readTarget } = postgresConfig;
  return {
    id: 'postgres',
    name: 'PostgreSQL',
    defaultPort: 5432,
    features: ['sql', 'parameters', 'schema', 'cancel', 'ssl'],
    configSchema,
    secretsSchema,
    connect(config, secrets) {
      const work = workOn(readTarget(config, secrets), ownDatabase);
      return new ServerConnection(async () => work);
    },
  };
}

/** Returns the work of the driver on a server. `ownDatabase` is refused as a source. */
export const workOn = (
  target: ServerTarget,
  ownDatabase: DatabaseIdentity | null,
): ServerWork<Session, PreparedStatement> => ({
  withSession: (limits, work) => withSession({ ...limits, target, ownDatabase }, work),
  prepare,
  begin,
  estimate,
  copy,
  select: (session, statement, limit) => selectRows(session, statement.select, limit),
  count: async (session, { count }) => Number((await session.query<{ records: string }>(count))[0]!.records),
  schema: readSchema,
  inspect: (session) => inspectRole(session, target.ssl !== 'disable'),
});

function copy(session: Session, { columns, select }: PreparedStatement, writer: SegmentWriter): Promise<void> {
  // An empty text alone in its row would be an empty line, which CSV readers skip, so the values of a single column
  // are quoted.
  const quotes = columns.length === 1 ? ', FORCE_QUOTE *' : '';
  return copyOut(session, `COPY (\n${select}\n) TO STDOUT (FORMAT csv, NULL '\\N'${quotes})`, writer);
}

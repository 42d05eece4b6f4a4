import type { ServerTarget } from '../server-config.ts';
import type { ServerWork } from '../server-connection.ts';
import { inspectRole, readSchema } from './catalog.ts';
import { copyRows, countRows, estimateRows, selectRows } from './rows.ts';
import { withSession, type Session } from './session.ts';
import { begin, prepare, type PreparedStatement } from './statement.ts';

/** Returns the work of the driver on sessions of a target. */
export const workOn = (target: ServerTarget): ServerWork<Session, PreparedStatement> => ({
  withSession: (limits, work) => withSession({ ...limits, target }, work),
  prepare,
  begin,
  estimate: estimateRows,
  copy: copyRows,
  select: selectRows,
  count: countRows,
  schema: readSchema,
  inspect: (session) => inspectRole(session, target.ssl !== 'disable'),
});

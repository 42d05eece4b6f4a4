import type { Row } from '../../rest-bridge/route.ts';
import dataset from '../../rest-bridge/routes/dataset.ts';
import datasource from '../../rest-bridge/routes/datasource.ts';
import mail from '../../rest-bridge/routes/mail.ts';
import operation from '../../rest-bridge/routes/operation.ts';
import passwordReset from '../../rest-bridge/routes/password-reset.ts';
import savedQuery from '../../rest-bridge/routes/saved-query.ts';
import session from '../../rest-bridge/routes/session.ts';
import team from '../../rest-bridge/routes/team.ts';
import user from '../../rest-bridge/routes/user.ts';

/** Every route below `/api`. */
export const ROWS: Row[] = [...session, ...passwordReset, ...user, ...team, ...operation, ...mail, ...datasource, ...savedQuery, ...dataset];

import { Session } from '../../../entities/session.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { defineModel } from '../resource/define-model.ts';

/** Open sessions of the viewer. */
const ownOpenSessions: AccessFilter = ({ userId }) => ({
  sql: 'r.user_id = ? and r.expires_at > now()',
  params: [userId],
});

export const sessionModel = defineModel(Session, { nodeAccess: ownOpenSessions, defaultSort: '-createdAt' });

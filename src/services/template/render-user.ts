import { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';

/** What templates know of the user for whom they are rendered. */
export interface RenderUser {
  id: string;
  username: string;
  /** Display name, or the names of the account. */
  name: string;
  /** IANA time zone. Null if the user has set none. */
  timezone: string | null;
}

/** Returns the user, or the team, for whom a template is rendered. */
export async function loadRenderUser({ viewer }: Pick<Context, 'viewer'>, tx: Transaction): Promise<RenderUser> {
  const { userId: id, username } = viewer;
  const user = await tx.findOne(User, { id });
  const names = [user?.givenName, user?.familyName].filter(Boolean).join(' ');
  return { id, username, name: user?.displayName || names || username, timezone: user?.timezone ?? null };
}

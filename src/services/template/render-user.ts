import { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';

/** The user that a document is rendered for, as templates see them. */
export interface RenderUser {
  id: string;
  username: string;
  /** Display name, or the names of the account. */
  name: string;
  /** IANA time zone. Null if the user has set none. */
  timezone: string | null;
}

/** Returns the user, or the team, that a template is rendered for. */
export async function loadRenderUser({ viewer }: Pick<Context, 'viewer'>, tx: Transaction): Promise<RenderUser> {
  const { userId: id, username } = viewer;
  const user = await tx.findOne(User, { id });
  const names = [user?.givenName, user?.familyName].filter(Boolean).join(' ');
  return { id, username, name: user?.displayName || names || username, timezone: user?.timezone ?? null };
}

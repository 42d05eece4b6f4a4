import type { UpdateUserInput } from '../../../entities/user-input.ts';
import type { User } from '../../../entities/user.ts';
import { invalid } from '../../core/input-checks.ts';
import { LOGIN_LOCK_MINUTES } from './credential.ts';

type Locks = Pick<User, 'lockedAt' | 'adminLockedAt'>;

/**
 * Returns the time of the lock in force: the lock by an administrator, else the lock after failed logins. Null without
 * one.
 */
export const lockOf = ({ lockedAt, adminLockedAt }: Locks): Date | string | null =>
  adminLockedAt ?? (isInForce(lockedAt) ? lockedAt! : null);

/** Returns whether the lock after failed logins has not expired. */
const isInForce = (lockedAt: Date | string | null | undefined): boolean =>
  lockedAt != null && new Date(lockedAt).getTime() + LOGIN_LOCK_MINUTES * 60_000 > Date.now();

/** The columns of a user's row that a change of the lock sets. */
type LockChange = { adminLockedAt: Date } | { adminLockedAt: null; lockedAt: null; loginAttempts: 0 };

const UNLOCK: LockChange = { adminLockedAt: null, lockedAt: null, loginAttempts: 0 };

/**
 * Returns the changes that `locked` and `lockedAt` of an input cause, or undefined if they are as they were read.
 * Throws BAD_USER_INPUT if they contradict each other. See docs/contract/access.md#locked-users.
 */
export function lockChange(
  user: Locks,
  { locked, lockedAt }: Pick<UpdateUserInput, 'locked' | 'lockedAt'>,
): LockChange | undefined {
  const current = lockOf(user);
  if (lockedAt !== undefined && !isAsRead(user, lockedAt)) {
    if (locked !== undefined && locked !== (lockedAt !== null)) throw invalid('locked', 'contradicts lockedAt');
    return lockedAt ? { adminLockedAt: lockedAt } : UNLOCK;
  }
  if (locked === false && current !== null) return UNLOCK;
  // A lock after failed logins that is sent back as it was read remains such a lock. Without its time, `locked` is a
  // new lock.
  return locked && !user.adminLockedAt && !lockedAt ? { adminLockedAt: new Date() } : undefined;
}

/**
 * Returns whether a time belongs to the lock in force, or to the lock after failed logins, which may have expired
 * since.
 */
function isAsRead(user: Locks, lockedAt: Date | null): boolean {
  const current = lockOf(user);
  if (lockedAt === null) return current === null;
  return [current, user.lockedAt].some((time) => time && new Date(time).getTime() === lockedAt.getTime());
}

/**
 * Returns the SQL condition that a user is enabled and not locked by an administrator: they may log in, use their
 * tokens, and have work done in their name. `alias` is the alias of `dws.app_user`. See
 * docs/contract/access.md#locked-users.
 */
export const isActive = (alias: string): string => `${alias}.enabled and ${alias}.admin_locked_at is null`;

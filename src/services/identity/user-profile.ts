import type { User } from '../../../entities/user.ts';
import { checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { LOCK_MINUTES } from './login.ts';
import { USERNAME } from './username.ts';

/** What a user may change of their own record. */
export interface ProfileInput {
  displayName?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  middleName?: string | null;
  email?: string | null;
  timezone?: string | null;
  settings?: Record<string, unknown> | null;
}

/** What an admin of users may change besides. */
export interface UserInput extends ProfileInput {
  username?: string | null;
  domain?: string | null;
  enabled?: boolean | null;
  superuser?: boolean | null;
  locked?: boolean | null;
  lockedAt?: Date | null;
  loginAttempts?: number | null;
  passwordSetAt?: Date | null;
  passwordExpiresAt?: Date | null;
}

/** Fields that null clears. */
export const NULLABLE = [
  'displayName',
  'givenName',
  'familyName',
  'middleName',
  'email',
  'timezone',
  'lockedAt',
  'passwordSetAt',
  'passwordExpiresAt',
] as const;
const ADMIN_FIELDS = [
  'username',
  'domain',
  'enabled',
  'locked',
  'lockedAt',
  'loginAttempts',
  'passwordSetAt',
  'passwordExpiresAt',
] as const;

/** Characters of settings as JSON. */
const MAX_SETTINGS = 65_536;

/** The input with its texts trimmed; throws 400 naming what does not fit. */
export function checkProfile<T extends UserInput>(input: T): T {
  const checked = { ...input };
  for (const field of ['displayName', 'givenName', 'familyName', 'middleName'] as const)
    if (checked[field] != null) checked[field] = checkOptionalText(checked[field], field, 255);
  if (checked.email != null) checked.email = checkEmail(checked.email);
  if (checked.timezone) checkTimezone(checked.timezone);
  if (checked.domain != null && !USERNAME.test(checked.domain))
    throw invalid('domain', 'must match ^[A-Za-z0-9][A-Za-z0-9_.@-]*$ and have at most 100 characters');
  if (checked.loginAttempts != null && checked.loginAttempts < 0)
    throw invalid('loginAttempts', 'must not be negative');
  if (checked.settings && JSON.stringify(checked.settings).length > MAX_SETTINGS)
    throw invalid('settings', `must have at most ${MAX_SETTINGS} characters as JSON`);
  return checked;
}

function checkEmail(email: string): string | null {
  if (email === '') return null;
  const address = checkText(email, 'email', 320);
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw invalid('email', 'is no address');
  return address;
}

function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw invalid('timezone', 'is no IANA time zone');
  }
}

/** A field of admins that the input would change; what is sent as it was read changes nothing. */
export function changedAdminField(user: User, input: UserInput): string | undefined {
  const now: Record<string, unknown> = { ...user, locked: isLocked(user.lockedAt) };
  return ADMIN_FIELDS.find((field) => input[field] !== undefined && plain(input[field]) !== plain(now[field]));
}

const plain = (value: unknown): unknown => (value instanceof Date ? value.getTime() : (value ?? null));

/** Whether a lock still holds. */
export const isLocked = (lockedAt: Date | string | null | undefined): boolean =>
  lockedAt != null && new Date(lockedAt).getTime() + LOCK_MINUTES * 60_000 > Date.now();

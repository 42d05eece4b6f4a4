import type { UpdateUserInput } from '../../../entities/user-input.ts';
import type { User } from '../../../entities/user.ts';
import { isAccountName, isEmailAddress } from '../../core/account-rules.ts';
import { checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { isTimezone } from '../../core/time-zone.ts';
import { lockChange } from './user-lock.ts';

/** Fields that null clears. */
export const NULLABLE_USER_FIELDS = [
  'displayName',
  'givenName',
  'familyName',
  'middleName',
  'email',
  'timezone',
  'passwordSetAt',
  'passwordExpiresAt',
] as const;

/** Fields that only users with `users:edit` can change, besides the lock. */
const ADMIN_FIELDS = ['username', 'domain', 'enabled', 'loginAttempts', 'passwordSetAt', 'passwordExpiresAt'] as const;

/** Fields that decide who can log in as a user, by name and domain or by a password link. */
const LOGIN_FIELDS = ['username', 'domain', 'email'] as const;

/** Characters of the settings as JSON. */
const MAX_SETTINGS_CHARACTERS = 65_536;

/** Returns the input with its texts trimmed. Throws BAD_USER_INPUT that names the invalid field. */
export function checkProfile<T extends UpdateUserInput>(input: T): T {
  const checked = { ...input };
  for (const field of ['displayName', 'givenName', 'familyName', 'middleName'] as const)
    if (checked[field] != null) checked[field] = checkOptionalText(checked[field], field, 255);
  if (checked.email != null) checked.email = checkEmail(checked.email);
  if (checked.timezone && !isTimezone(checked.timezone)) throw invalid('timezone', 'must be an IANA time zone');
  if (checked.domain != null && !isAccountName(checked.domain))
    throw invalid('domain', 'must match ^[A-Za-z0-9][A-Za-z0-9_.@-]*$ and have at most 100 characters');
  if (checked.loginAttempts != null && checked.loginAttempts < 0)
    throw invalid('loginAttempts', 'must not be negative');
  if (checked.settings && JSON.stringify(checked.settings).length > MAX_SETTINGS_CHARACTERS)
    throw invalid('settings', `must have at most ${MAX_SETTINGS_CHARACTERS} characters as JSON`);
  return checked;
}

function checkEmail(email: string): string | null {
  if (email.trim() === '') return null;
  const address = checkText(email, 'email', 320);
  if (!isEmailAddress(address)) throw invalid('email', 'must be an e-mail address');
  return address;
}

/** Returns an admin field that the input would change, or undefined. */
export const changedAdminField = (user: User, input: UpdateUserInput): string | undefined =>
  changedField(ADMIN_FIELDS, user, input) ??
  (lockChange(user, input) && (input.locked === undefined ? 'lockedAt' : 'locked'));

/** Returns a field that decides who can log in as the user and that the input would change, or undefined. */
export const changedLoginField = (user: User, input: UpdateUserInput): string | undefined =>
  changedField(LOGIN_FIELDS, user, input);

/** Returns the name or domain, by which a provider finds a user, if the input would change it; otherwise undefined. */
export const changedAccountField = (user: User, input: UpdateUserInput): string | undefined =>
  changedField(['username', 'domain'], user, input);

/** A field with its current value is not a change. */
function changedField(
  fields: readonly (keyof UpdateUserInput)[],
  user: User,
  input: UpdateUserInput,
): string | undefined {
  const current: Record<string, unknown> = { ...user };
  return fields.find(
    (field) => input[field] !== undefined && toComparable(input[field]) !== toComparable(current[field]),
  );
}

const toComparable = (value: unknown): unknown => (value instanceof Date ? value.getTime() : (value ?? null));

import { isEmailAddress, toUsername, usernameIssue } from '../../core/account-rules.ts';
import type { ProviderSettings } from './provider-login-user.ts';

/** A user as the provider describes them. */
export interface ExternalUser {
  subject: string;
  /** A valid username; null if the provider sends no name. */
  username: string | null;
  /**
   * Whether the provider sends the name in this form. A username that is derived from another form does not identify a
   * user.
   */
  isExactName: boolean;
  /** Null unless the provider has verified the address. */
  email: string | null;
  displayName: string | null;
  givenName: string | null;
  familyName: string | null;
}

const MAX_EMAIL_CHARACTERS = 320;

/** Reads the description of a user from the claims of an ID token and of the user info. */
export function readClaims(
  { usernameClaim }: Pick<ProviderSettings, 'usernameClaim'>,
  claims: Readonly<Record<string, unknown>> & { sub: string },
): ExternalUser {
  const address = isTrue(claims['email_verified']) ? claims['email'] : null;
  // The beginning of a longer address could have another domain.
  const email =
    typeof address === 'string' && address.length <= MAX_EMAIL_CHARACTERS
      ? textOf(address, MAX_EMAIL_CHARACTERS)
      : null;
  const username = usernameClaim === 'email' ? email : claims[usernameClaim];
  return {
    subject: claims.sub,
    ...readName(username),
    email: email !== null && isEmailAddress(email) ? email : null,
    displayName: textOf(claims['name'], 255),
    givenName: textOf(claims['given_name'], 255),
    familyName: textOf(claims['family_name'], 255),
  };
}

function readName(claim: unknown): Pick<ExternalUser, 'username' | 'isExactName'> {
  if (typeof claim !== 'string' || claim.trim() === '') return { username: null, isExactName: false };
  const isExactName = usernameIssue(claim) === undefined;
  return { username: isExactName ? claim : toUsername(claim), isExactName };
}

/** Some providers send booleans as texts. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';

/** Returns a claim as one line of text; null for anything else and for an empty text. */
const textOf = (claim: unknown, maxLength: number): string | null =>
  typeof claim === 'string'
    ? claim
        .replaceAll(/[\p{Cc}\s]+/gu, ' ')
        .trim()
        .slice(0, maxLength) || null
    : null;

import { isEmailAddress, toUsername, usernameIssue } from '../../core/account-rules.ts';
import type { ProviderSettings } from './provider-login-user.ts';

interface ExternalName {
  /** A valid username. */
  username: string;
  /**
   * Whether the provider sends the name in this form. A username that is derived from another form does not identify a
   * user.
   */
  isExactName: boolean;
}

/** The names of a user for whom the provider sends no name. */
interface NoName {
  username: null;
  isExactName: false;
}

interface ExternalProfile {
  subject: string;
  /** Null unless the provider has verified the address. */
  email: string | null;
  displayName: string | null;
  givenName: string | null;
  familyName: string | null;
}

/** A user with a name, as the provider describes them. */
export type NamedUser = ExternalProfile & ExternalName;
/** A user as the provider describes them. */
export type ExternalUser = NamedUser | (ExternalProfile & NoName);

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

function readName(claim: unknown): ExternalName | NoName {
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

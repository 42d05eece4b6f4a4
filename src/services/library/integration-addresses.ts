import type { UpdateIntegrationInput } from '../../../entities/integration-input.ts';
import type { Integration } from '../../../entities/integration.ts';
import type { Drive } from '../../core/drive.ts';
import { refused } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { OUTBOUND_URL_RULE } from '../../core/input-rules.ts';

const URIS = ['authUri', 'tokenUri', 'revokeUri', 'apiUri', 'contentUri'] as const;
type Uri = (typeof URIS)[number];

/** The addresses of an integration and its scope. */
export type ClientAddresses = Pick<Integration, Uri | 'scope'>;

/**
 * Returns the addresses and the scope of an integration: the given ones, else its former ones, else the defaults of its
 * type. `former` is null for a new integration. The former values do not apply to another type, where a given value
 * that equals the former one does not count as given either: clients can send a record back with another type. Throws
 * FORBIDDEN if a caller who is not a superuser sets an address that is neither the type's nor the former one.
 */
export function chooseAddresses(
  { id: type, defaults }: Drive,
  given: Pick<UpdateIntegrationInput, Uri | 'scope'>,
  former: (Pick<Integration, 'type'> & ClientAddresses) | null,
  superuser: boolean,
): ClientAddresses {
  const kept = former?.type === type ? former : null;
  const choose = (key: Uri | 'scope', value: string | null | undefined): string | null => {
    const isGiven = value !== undefined && (kept !== null || value !== former?.[key]);
    return (isGiven ? value : kept?.[key]) ?? (isGiven || !kept ? defaults[key] : null);
  };
  const chosen = { scope: choose('scope', given.scope)! } as ClientAddresses;
  for (const key of URIS) {
    const value = choose(key, checkUri(key, given[key]));
    if (!superuser && value !== defaults[key] && !(kept && value === (kept[key] ?? null)))
      throw refused(`Only superusers may set ${key} to an address other than the default of the type`);
    chosen[key] = value as string;
  }
  return chosen;
}

/**
 * Returns a URL, without slashes at its end if paths are appended to it. Throws BAD_USER_INPUT for
 * other texts.
 */
function checkUri(path: Uri, value: string | null | undefined): string | null | undefined {
  if (value == null) return value;
  if (!URL.canParse(value)) throw invalid(path, OUTBOUND_URL_RULE.patternMessage);
  return path === 'apiUri' || path === 'contentUri' ? value.replace(/(?<!\/)\/+$/, '') : value;
}

/** Returns whether two integrations are the same client at the same provider, so that connections can stay. */
export const isSameClient = (
  one: Pick<Integration, 'type' | 'clientId'> & ClientAddresses,
  other: Pick<Integration, 'type' | 'clientId'> & ClientAddresses,
): boolean => (['type', 'clientId', ...URIS] as const).every((key) => (one[key] ?? null) === (other[key] ?? null));

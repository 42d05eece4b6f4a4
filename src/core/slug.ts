import { isUuid } from './id.ts';
import { normalizeText } from './normalize-text.ts';

const SLUG = /^[a-z0-9][a-z0-9-]*$/;

/**
 * Returns whether a text is a valid slug: `^[a-z0-9][a-z0-9-]*$`, at most 100 characters, not shaped like a UUID
 * (docs/contract/apis.md#identifiers).
 */
export const isSlug = (text: string): boolean => text.length <= 100 && SLUG.test(text) && !isUuid(text);

/** The tenant of callers without credentials who name none. */
export const DEFAULT_TENANT = 'default';

/** Returns the slug of the tenant that a caller without credentials names, or of the default one. */
export const tenantOrDefault = (tenant: string | null | undefined): string => tenant || DEFAULT_TENANT;

/** Returns a slug for a name: letters without accents and digits, with hyphens for the rest. */
export function slugOf(name: string): string {
  const plain = normalizeText(name, 'NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
    .slice(0, 80)
    .replace(/(?<!-)-+$/, '');
  return plain && !isUuid(plain) ? plain : 'item';
}

import { isUuid } from './id.ts';

const SLUG = /^[a-z0-9][a-z0-9-]*$/;

/**
 * Returns whether a text is a valid slug: `^[a-z0-9][a-z0-9-]*$`, at most 100 characters, not shaped like a UUID
 * (docs/contract.md#identifiers).
 */
export const isSlug = (text: string): boolean => text.length <= 100 && SLUG.test(text) && !isUuid(text);

/** Returns a slug for a name: letters without accents and digits, with hyphens for the rest. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
    .replace(/-+$/, '');
  return plain && !isUuid(plain) ? plain : 'item';
}

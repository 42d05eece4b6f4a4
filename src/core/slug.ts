import { isUuid } from './id.ts';

const SLUG = /^[a-z0-9][a-z0-9-]*$/;

/** Whether a text may be a slug (contract 4): `^[a-z0-9][a-z0-9-]*$`, at most 100 characters, not shaped like a UUID. */
export const isSlug = (text: string): boolean => text.length <= 100 && SLUG.test(text) && !isUuid(text);

/** A slug made of a name: accents dropped, everything else a hyphen. */
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

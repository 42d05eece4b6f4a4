import type { Platform } from './platform.ts';

/** Returns a function that creates a value for a platform at its first use, and returns the same one from then on. */
export function perPlatform<T>(create: (platform: Platform) => T): (platform: Platform) => T {
  const created = new WeakMap<Platform, { value: T }>();
  return (platform) => {
    const known = created.get(platform) ?? { value: create(platform) };
    created.set(platform, known);
    return known.value;
  };
}

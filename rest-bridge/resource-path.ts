const plural = (kind: string): string => (kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`);

/**
 * Returns the path of a resource of any kind, below `/api`. The path of a user contains the username, which is the
 * `slug` of a user in lists of several kinds.
 */
export const resourcePath = ({ kind, id, slug }: { kind: string; id: string; slug?: string | null }): string =>
  `/${plural(kind)}/${kind === 'user' && slug ? encodeURIComponent(slug) : id}`;

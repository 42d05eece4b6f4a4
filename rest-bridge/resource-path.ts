const plural = (kind: string): string => (kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`);

/** The path of a resource of any kind, by the word of its kind. Users go by their names, which are their `slug` where kinds are mixed. */
export const resourcePath = ({ kind, id, slug }: { kind: string; id: string; slug?: string | null }): string =>
  `/${plural(kind)}/${kind === 'user' && slug ? encodeURIComponent(slug) : id}`;

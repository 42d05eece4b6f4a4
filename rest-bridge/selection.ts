import { getNamedType, isObjectType, parse, type GraphQLOutputType, type SelectionNode } from 'graphql';
import type { PathOfKind } from './links.ts';

/** Paths below `/api` by relation. Undefined ones are omitted. */
export type Links = Record<string, string | undefined>;
/** Returns the links of a record. `params` are the parameters of the request's path. */
export type LinksOf<T> = (record: T, params: Readonly<Record<string, string>>, pathOfKind: PathOfKind) => Links;

/** Returns the fields of an object type, by name; none for other types. */
export const fieldsOf = (type: GraphQLOutputType) => {
  const named = getNamedType(type);
  return isObjectType(named) ? named.getFields() : {};
};

/** Returns `name { selection }`, or the name alone for a leaf. */
export const withSelection = (name: string, selection: string): string =>
  selection ? `${name} { ${selection} }` : name;

/** Returns the top-level keys that the result of a selection has. */
export function topLevelNames(selection: string): string[] {
  const [operation] = parse(`{ ${selection} }`).definitions;
  const nodes: readonly SelectionNode[] =
    operation?.kind === 'OperationDefinition' ? operation.selectionSet.selections : [];
  return nodes.flatMap((node) => (node.kind === 'Field' ? [(node.alias ?? node.name).value] : []));
}

/**
 * Calls `links` with a record that notes which fields are read. Returns these fields, so that they can be selected, and
 * the link templates.
 */
export function traceLinks<T>(links: LinksOf<T>): { reads: string[]; templates: Links } {
  const reads = new Set<string>();
  const probe = (seen?: Set<string>) =>
    new Proxy({}, { get: (_, name) => (seen?.add(String(name)), `{${String(name)}}`) });
  const pathOfKind: PathOfKind = ({ kind, id }) => `/${kind}/${id}`;
  const templates = links(probe(reads) as T, probe() as Record<string, string>, pathOfKind);
  return { reads: [...reads], templates };
}

/* Derives the links of records from the table of rows: children, actions, and the resources that fields name. */
import { isNonNullType } from 'graphql';
import { ruleOf } from '../src/core/input-rules.ts';
import type { Endpoint } from './bridge.ts';
import { RowError } from './document.ts';
import { LinkChecks } from './link-checks.ts';
import { CURIES, groupByCheck, type ChildLink, type DerivedLinks, type FieldLink, type PathOfKind } from './links.ts';
import type { Presentation } from './present.ts';
import type { Json } from './route.ts';
import type { Links } from './selection.ts';
import { shapeOf, toKebab } from './words.ts';

/** Returns the relation of a path's last segment: `svc:sync-fields` for `/datasets/:/_syncFields`. */
const relationOf = (path: string): string => `svc:${toKebab(path.slice(path.lastIndexOf('/') + 1).replace(/^_/, ''))}`;

/** Returns the relation of a field: `svc:datasource` for `datasourceId`. */
const relationOfField = (key: string): string => `svc:${toKebab(key.slice(0, -'Id'.length))}`;

/** Fields with the id of a user or a team. */
const PRINCIPAL_FIELDS = new Set(['ownerId', 'principalId', 'creatorId']);
const principalHref = (value: unknown): string => {
  const principal = value as string;
  return principal.startsWith('team:')
    ? `/api/teams/${principal.slice('team:'.length)}`
    : `/api/users/${principal.replace(/^user:/, '')}`;
};
const ownerHref: FieldLink['hrefOf'] = (_, self) => self && `${self}/owner`;

/** Methods that the rows of one path permit. */
interface LinkedPath {
  path: string;
  rel: string;
  endpoints: Endpoint[];
}
interface RowTable {
  /** Paths by the shape of the path above them. */
  below: ReadonlyMap<string, readonly LinkedPath[]>;
  /** Paths of single resources without the id, e.g. `/datasets/`, by the relation of their kind, e.g. `svc:dataset`. */
  kinds: ReadonlyMap<string, string>;
  /** Paths that can be read. */
  gets: ReadonlySet<string>;
  checks: LinkChecks;
}

const pathAbove = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/**
 * Returns whether no route serves a path below a record itself: e.g. `/teams/:/ai` of `/teams/:/ai/profile`,
 * `svc:ai-profile`.
 */
const isPartOfPath = (path: string, gets: ReadonlySet<string>): boolean =>
  path.includes(':') && !path.endsWith(':') && !gets.has(path);

function readTable(endpoints: readonly Endpoint[]): RowTable {
  const paths = new Map<string, LinkedPath>();
  const collections = new Set<string>();
  const kinds = new Map<string, string>();
  const gets = new Set(endpoints.filter(({ row }) => row.method === 'GET').map(({ row }) => shapeOf(row.path)));
  for (const endpoint of endpoints) {
    const { row, presentation } = endpoint;
    const path = shapeOf(row.path);
    if (row.method === 'GET' && presentation?.collection) {
      collections.add(path);
      if (gets.has(`${path}/:`) && !path.includes(':')) kinds.set(presentation.collection.rel, `${row.path}/`);
    }
    if (path === '' || path.endsWith(':') || row.options.linked === false) continue;
    if (!paths.has(path)) paths.set(path, { path, rel: relationOf(path), endpoints: [] });
    paths.get(path)!.endpoints.push(endpoint);
  }
  const below = new Map<string, LinkedPath[]>();
  for (const linked of paths.values()) {
    let above = pathAbove(linked.path);
    if (isPartOfPath(above, gets)) {
      above = pathAbove(above);
      linked.rel = relationOf(linked.path.slice(above.length + 1).replace('/', '-'));
    }
    // A path below neither a record nor a collection is below the entry point, e.g. `/me/favorites`.
    const parent = above.includes(':') || collections.has(above) ? above : '';
    below.set(parent, [...(below.get(parent) ?? []), linked]);
  }
  return { below, kinds, gets, checks: new LinkChecks() };
}

/**
 * Returns the path of a resource of any kind, below `/api`; undefined for a kind without one. The path of a user contains
 * the username, which is the `slug` of a user in lists of several kinds.
 */
const createPathOfKind =
  ({ kinds }: RowTable): PathOfKind =>
  ({ kind, id, slug }) => {
    const path = kinds.get(`svc:${toKebab(kind)}`);
    return path && path + (kind === 'user' && slug ? encodeURIComponent(slug) : id);
  };

/** Returns a presentation and those within it. */
function presentationsOf(presentation: Presentation | undefined): Presentation[] {
  if (!presentation) return [];
  const { collection, unwraps, deferred, embeds = [] } = presentation;
  const inner = [collection?.item, unwraps?.inner, deferred, ...embeds.map((embed) => embed.inner)];
  return [presentation, ...inner.flatMap(presentationsOf)];
}

/** Sets the derived links of all presentations. Throws `RowError` when two links of a record have the same relation. */
export function linkRows(endpoints: readonly Endpoint[]): void {
  const table = readTable(endpoints);
  const pathOfKind = createPathOfKind(table);
  for (const endpoint of endpoints)
    for (const presentation of presentationsOf(endpoint.presentation)) {
      const { derived, links: templates, collection } = presentation;
      if (!derived) continue;
      derived.pathOfKind = pathOfKind;
      if (templates && !collection) linkRecord(endpoint, presentation, derived, templates, table);
      if (!collection) continue;
      const path = shapeOf(endpoint.row.path);
      derived.children = childLinks(path, table);
      derived.up = table.gets.has(path.slice(0, path.lastIndexOf('/'))) ? undefined : '/api';
      derived.hasPages = table.gets.has(path);
      derived.groups = groupByCheck(derived.children);
      derived.curies = CURIES;
    }
}

function linkRecord(
  { row }: Endpoint,
  { keys, embeds = [] }: Presentation,
  derived: DerivedLinks,
  templates: Links,
  table: RowTable,
): void {
  const { self } = templates;
  const below = self === undefined ? [] : childLinks(shapeOf(self), table);
  const relationByShape = new Map(Object.entries(templates).map(([rel, path]) => [shapeOf(path ?? ''), rel]));
  const ownRelation = ({ suffix }: ChildLink) => relationByShape.get(shapeOf(`${self}${suffix}`));
  const children = below.filter((child) => ownRelation(child) === undefined);
  derived.checks = below.flatMap((child) => {
    const rel = ownRelation(child);
    return rel !== undefined && child.check ? [{ rel, check: child.check }] : [];
  });
  derived.fields = fieldLinks(
    keys,
    templates,
    table,
    children.some(({ suffix }) => suffix === '/owner'),
  );
  derived.children = children.filter(({ suffix }) => suffix !== '/owner' || !keys.includes('ownerId'));
  const relations = [...Object.keys(templates), ...[...derived.children, ...derived.fields].map(({ rel }) => rel)];
  const repeated = relations.find((rel, index) => relations.indexOf(rel) !== index);
  if (repeated !== undefined) throw new RowError(row, `two links of its record have the relation ${repeated}`);
  derived.curies = [...relations, ...embeds.map(({ rel }) => rel)].some((rel) => rel.startsWith('svc:'))
    ? CURIES
    : undefined;
  derived.groups = groupByCheck(derived.children);
}

/** Returns the links to the paths below a path. */
const childLinks = (parent: string, { below, checks }: RowTable): ChildLink[] =>
  (below.get(parent) ?? []).map(({ path, rel, endpoints }) => {
    const required = requiredParameters(endpoints);
    const template = required.length > 0 ? `{?${required.join(',')}}` : '';
    return {
      rel,
      suffix: path.slice(parent.length) + template,
      templated: template !== '',
      check: checks.of(endpoints),
    };
  });

/** Returns the names of the parameters without which a GET of a path is refused. */
const requiredParameters = (endpoints: readonly Endpoint[]): string[] =>
  endpoints
    .filter(({ row }) => row.method === 'GET')
    .flatMap(({ parser }) => [...(parser?.query ?? [])])
    .filter(([, { type, argument }]) => isNonNullType(type) || ruleOf(argument)?.required === true)
    .map(([name]) => name);

function fieldLinks(keys: readonly string[], templates: Links, table: RowTable, hasOwnerPath: boolean): FieldLink[] {
  return keys.flatMap((key) => {
    const rel = key.endsWith('Id') ? relationOfField(key) : `svc:${key}`;
    const hrefOf = rel in templates ? undefined : hrefOfField(key, rel, keys, table, hasOwnerPath);
    return hrefOf ? [{ rel, key, hrefOf }] : [];
  });
}

/** Returns the function that finds the resource of a field; undefined when the field names none. */
function hrefOfField(
  key: string,
  rel: string,
  keys: readonly string[],
  table: RowTable,
  hasOwnerPath: boolean,
): FieldLink['hrefOf'] | undefined {
  const pathOfKind = createPathOfKind(table);
  const hrefOfKind = (kind: unknown, id: unknown) => {
    const path = pathOfKind({ kind: String(kind), id: String(id) });
    return path && `/api${path}`;
  };
  if (key === 'ownerId' && hasOwnerPath) return ownerHref;
  if (PRINCIPAL_FIELDS.has(key)) return principalHref;
  if (key === 'resource') return (value) => hrefOfKind((value as Json)['kind'], (value as Json)['id']);
  if (key === 'resourceId' && keys.includes('kind')) return (value, _, record) => hrefOfKind(record['kind'], value);
  const path = key.endsWith('Id') ? table.kinds.get(rel) : undefined;
  return path === undefined ? undefined : (value) => `/api${path}${String(value)}`;
}

/** Returns the relations of the links that a presentation can have. */
export const relationsOf = ({ links = {}, derived }: Presentation): string[] => [
  ...Object.keys(links),
  ...(derived ? [...derived.fields, ...derived.children].map(({ rel }) => rel) : []),
];

/** Returns the routes to which the links of each relation lead, and the routes of the items that a relation embeds. */
export function describeRelations(endpoints: readonly Endpoint[]): Map<string, Endpoint[]> {
  const { below, kinds } = readTable(endpoints);
  const shapes = new Map<string, Set<string>>();
  // The path of a resource of any kind begins with two parameters.
  const shapesOf = (path: string) =>
    path.startsWith('/:/:')
      ? [...kinds.values()].map((kind) => `${shapeOf(kind)}:${path.slice('/:/:'.length)}`)
      : [path];
  const add = (rel: string, ...paths: string[]) => {
    if (rel.startsWith('svc:')) shapes.set(rel, new Set([...(shapes.get(rel) ?? []), ...paths.flatMap(shapesOf)]));
  };
  for (const { path, rel } of [...below.values()].flat()) add(rel, path);
  for (const [rel, path] of kinds) add(rel, `${path}:`);
  for (const key of PRINCIPAL_FIELDS) add(relationOfField(key), '/users/:', '/teams/:');
  add('svc:resource', '/:/:');
  for (const endpoint of endpoints)
    for (const { links = {}, collection, embeds = [] } of presentationsOf(endpoint.presentation)) {
      for (const [rel, path] of Object.entries(links)) if (path) add(rel, shapeOf(path));
      if (collection) add(collection.rel, shapeOf(collection.item.links?.['self'] ?? endpoint.row.path));
      for (const { rel, inner } of embeds) add(rel, shapeOf(inner.links?.['self'] ?? endpoint.row.path));
    }
  return new Map([...shapes].map(([rel, paths]) => [rel, endpoints.filter(({ row }) => paths.has(shapeOf(row.path)))]));
}

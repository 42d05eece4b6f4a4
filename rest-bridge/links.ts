/* Links of responses that follow from the table of rows. `relations.ts` finds them at start-up. */
import type { Viewer } from '../src/core/viewer.ts';
import type { Json } from './route.ts';

/** The facts about the caller that decide which actions are linked. */
export type LinkViewer = Pick<Viewer, 'userId' | 'superuser' | 'permissions' | 'authMethod' | 'scopes'>;

/** A link of HAL. */
interface HalLink {
  href: string;
  /** Set when `href` is a URI template (RFC 6570). */
  templated?: true;
}
/** The links of a response. `curies` is the only relation with a list. */
export type HalLinks = Record<string, HalLink | readonly HalLink[] | undefined>;

/** Returns whether the caller may use a path, given the record that is presented. */
export type LinkCheck = (record: Readonly<Json>, viewer: LinkViewer | null | undefined) => boolean;

/** A link to a path below the path of a record or collection. */
export interface ChildLink {
  rel: string;
  /** The rest of the path after the path of the record. */
  suffix: string;
  templated: boolean;
  /** Undefined when every reader of the record may use the path. */
  check: LinkCheck | undefined;
}
/** A link to the resource that a field names. */
export interface FieldLink {
  rel: string;
  key: string;
  /** Returns the path of the resource, with `/api`; undefined for one without a path. `value` is the value of the field. */
  hrefOf(value: unknown, self: string | undefined, record: Readonly<Json>): string | undefined;
}
/** Children with the same check. */
interface ChildGroup {
  check: LinkCheck | undefined;
  children: readonly ChildLink[];
}
/** Returns the path of a resource of any kind, below `/api`; undefined for a kind without one. */
export type PathOfKind = (resource: { kind: string; id: string; slug?: string | null }) => string | undefined;

/** Links of a presentation that follow from the table of rows. They are set by `linkRows` at start-up. */
export interface DerivedLinks {
  children: readonly ChildLink[];
  groups: readonly ChildGroup[];
  pathOfKind: PathOfKind;
  fields: readonly FieldLink[];
  /** Checks of links that the presenter itself has, by relation. */
  checks: readonly { rel: string; check: LinkCheck }[];
  curies: readonly HalLink[] | undefined;
  /** Path that a collection is below, with `/api`, if it is not the path above it, which has no route. */
  up: string | undefined;
  /** Whether a GET returns the collection, so that its pages are linked. The collection of an action has none. */
  hasPages: boolean;
}
export const createDerivedLinks = (): DerivedLinks => ({
  children: [],
  groups: [],
  pathOfKind: () => undefined,
  fields: [],
  checks: [],
  curies: undefined,
  up: undefined,
  hasPages: true,
});

/** Groups children by their checks, so that each check is called once for a record. */
export const groupByCheck = (children: readonly ChildLink[]): ChildGroup[] =>
  [...Map.groupBy(children, ({ check }) => check)].map(([check, group]) => ({ check, children: group }));

/** Path of the pages that describe the relations. */
const RELATIONS_PATH = '/api/docs/relations';
export const CURIES = Object.freeze([{ name: 'svc', href: `${RELATIONS_PATH}/{rel}`, templated: true as const }]);

/**
 * Adds the links to the resources that the fields of a record name, and removes links to paths that the caller may not use.
 */
export function addFieldLinks(
  links: HalLinks,
  record: Readonly<Json>,
  self: string | undefined,
  { fields, checks }: DerivedLinks,
  viewer: LinkViewer | null | undefined,
): void {
  for (const { rel, check } of checks) if (links[rel] && !check(record, viewer)) links[rel] = undefined;
  for (const { rel, key, hrefOf } of fields) {
    const value = record[key];
    const href = value === null || value === undefined ? undefined : hrefOf(value, self, record);
    if (href !== undefined) links[rel] = { href };
  }
}

/** Adds the links to the children and actions that the caller may use, and `curies`. Without `self` there are none. */
export function addChildLinks(
  links: HalLinks,
  record: Readonly<Json>,
  self: string | undefined,
  { groups, curies }: DerivedLinks,
  viewer: LinkViewer | null | undefined,
): void {
  if (self !== undefined)
    for (const { check, children } of groups)
      if (!check || check(record, viewer))
        for (const { rel, suffix, templated } of children)
          links[rel] = templated ? { href: self + suffix, templated } : { href: self + suffix };
  if (curies) links['curies'] = curies;
}

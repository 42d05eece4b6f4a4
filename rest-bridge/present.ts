import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  type GraphQLField,
  type GraphQLOutputType,
} from 'graphql';
import { ruleOf } from '../src/core/input-rules.ts';
import { embedField } from './embed.ts';
import { addChildLinks, addFieldLinks, createDerivedLinks, type DerivedLinks, type HalLinks } from './links.ts';
import { pageLinks, pathOf, type PresentedRequest } from './page-links.ts';
import type { Json } from './route.ts';
import { fieldsOf, topLevelNames, traceLinks, withSelection, type LinksOf, type Links } from './selection.ts';

/** A presenter for one field's type, with everything that can be computed at start-up. */
export interface Presentation {
  /** GraphQL selection without braces; empty for a leaf. */
  selection: string;
  /** Top-level keys of the presented record. A PUT may contain them. */
  keys: readonly string[];
  /** Keys that the presented record may lack. */
  optional?: readonly string[];
  /** Keys that no PUT may change. */
  identity: readonly string[];
  /** Returns the record's version, for its ETag. Called before `present`. */
  version?: (result: Json) => number | undefined;
  /** Returns the body of the response. May change the result in place, because it belongs to this request only. */
  present(result: unknown, request: PresentedRequest): unknown;
  /** Returns the path of the record itself, with `/api`. */
  self?: (result: Json, params: Readonly<Record<string, string>>) => string | undefined;
  /** Presents the operation when the client does not wait for the result. */
  deferred?: Presentation;
  /** Whether this is a single record, which gets an ETag. */
  single: boolean;
  // The members below are for the OpenAPI document and for `linkRows`.
  /** Relation and item of a collection, and the selection of further fields of its page. */
  collection?: { rel: string; item: Presentation; extra: string };
  /** Default limit of a collection whose field is a list that takes a limit. Its length is then counted separately. */
  listLimit?: number | undefined;
  /** Link templates of a resource by relation. */
  links?: Links;
  /** Further links of a record or collection. */
  derived?: DerivedLinks;
  /** Embedded fields of a resource. */
  embeds?: readonly { rel: string; name: string; inner: Presentation }[];
  /** JSON Schema of a mapped value. */
  shape?: Readonly<Json>;
  /** Set when one field of the result is presented in place of the result, with further ones of it `beside`. */
  unwraps?: { field: string; inner: Presentation; beside?: string };
}

/** Presents the results of a field in REST: its selection and its response. */
export interface Presenter {
  /** Returns the presentation of a field. `isPart` is true for records within another result, which need no version. */
  on(type: GraphQLOutputType, field: GraphQLField<unknown, unknown>, isPart?: boolean): Presentation;
}

interface ResourceOptions {
  /**
   * Fields that move into `_embedded`: `{'svc:tag': {field: 'tag', as: tag}}`. A field that the selection also names
   * appears twice.
   */
  embed?: Record<string, { field: string; as: Presenter }>;
  /** Fields, in addition to id, tenant, naturalId and createdAt, that a PUT cannot change. */
  identity?: readonly string[];
  /** Fields that are selected, e.g. for `status`, but not presented. */
  hidden?: readonly string[];
}

const IDENTITY = ['id', 'tenant', 'naturalId', 'createdAt'];

const href = (path: string): { href: string } => ({ href: `/api${path}` });

/** Presents one record with its `_links`. `links` may read any field of the type: it is then selected as well. */
export function resource<T>(selection: string, links: LinksOf<T>, options: ResourceOptions = {}): Presenter {
  const keys = selection === '' ? [] : topLevelNames(selection);
  const { reads, templates } = traceLinks(links);
  const identity = [...IDENTITY, ...(options.identity ?? [])].filter((name) => keys.includes(name));
  return {
    on(type, field, isPart = false) {
      const fields = fieldsOf(type);
      const embeds = Object.entries(options.embed ?? {}).map(([rel, { field: name, as }]) => ({
        rel,
        name,
        inner: as.on(fields[name]?.type ?? type, field, true),
      }));
      const isVersioned = !isPart && 'version' in fields;
      const hidden = [...new Set([...reads, ...(options.hidden ?? []), ...(isVersioned ? ['version'] : [])])].filter(
        (name) => !keys.includes(name),
      );
      const derived = createDerivedLinks();
      return {
        selection: [
          selection,
          ...hidden,
          ...embeds.map(({ name, inner }) => withSelection(name, inner.selection)),
        ].join(' '),
        keys,
        identity,
        links: templates,
        derived,
        embeds,
        single: true,
        ...(isVersioned && { version: (result: Json) => result['version'] as number }),
        self: (result, params) => {
          const path = links(result as T, params, derived.pathOfKind)['self'];
          return path && `/api${path}`;
        },
        present(result, request) {
          const record = result as Json;
          const _links: HalLinks = {};
          const paths = links(record as T, request.params, derived.pathOfKind);
          for (const rel in paths) if (paths[rel] !== undefined) _links[rel] = href(paths[rel]);
          const self = paths['self'] === undefined ? undefined : `/api${paths['self']}`;
          addFieldLinks(_links, record, self, derived, request.viewer);
          if (!isPart) addChildLinks(_links, record, self, derived, request.viewer);
          for (const name of hidden) record[name] = undefined;
          record['_links'] = _links;
          if (embeds.length > 0)
            record['_embedded'] = Object.fromEntries(
              embeds.map(({ rel, name, inner }) => [
                rel,
                embedField(record, name, inner, request, keys.includes(name)),
              ]),
            );
          return record;
        },
      };
    },
  };
}

/**
 * Returns the selection of all fields of a type. Throws for a type that contains itself, and for fields with arguments.
 */
function selectAll(type: GraphQLOutputType, above: readonly string[] = []): string {
  const { name } = getNamedType(type);
  if (above.includes(name)) throw new Error(`${name} contains itself: select its fields by their names`);
  return Object.values(fieldsOf(type))
    .map((field) => {
      if (field.args.length > 0) throw new Error(`${name}.${field.name} has arguments: select fields by their names`);
      return withSelection(field.name, selectAll(field.type, [...above, name]));
    })
    .join(' ');
}

/**
 * Presents the field's JSON as it is, or the result of `map`, whose JSON Schema is `shape`. The selection `*` is all
 * fields of the type.
 */
export function value<T = unknown>(
  selection = '',
  map?: (result: T, params: Readonly<Record<string, string>>) => unknown,
  shape: Readonly<Json> = {},
): Presenter {
  return {
    on(type) {
      const selected = selection === '*' ? selectAll(type) : selection;
      return {
        selection: selected || (isCompositeType(getNamedType(type)) ? '__typename' : ''),
        keys: selected ? topLevelNames(selected) : [],
        identity: [],
        single: false,
        ...(map && { shape }),
        present: map ? (result, request) => map(result as T, request.params) : (result) => result,
      };
    },
  };
}

/** Presents `{success: true}`, for any result. */
export const confirmation = value('', () => ({ success: true }), {
  type: 'object',
  properties: { success: { const: true } },
  required: ['success'],
});

interface CollectionOptions {
  /** Selection of further fields of the page, presented next to `total`. */
  extra?: string;
  /**
   * The page's field that contains the cursor of the next page. The link `next` then has `?after=`, and there is no
   * `last`.
   */
  cursor?: string;
  /** Further links by relation: each returns the path, with `/api`, for the URL of the request. */
  links?: Readonly<Record<string, (url: string) => string>>;
}

/**
 * Presents a HAL collection with the relation `svc:<rel>`. The field returns a page (`items start count total`) or a
 * plain list.
 */
export function collection(rel: string, item: Presenter, options: CollectionOptions = {}): Presenter {
  return {
    on(type, field) {
      const isList = isListType(getNullableType(type));
      const fields = isList ? {} : fieldsOf(type);
      const inner = item.on(isList ? type : (fields['items']?.type ?? type), field, true);
      const counts = ['start', 'count', 'total'].filter((name) => name in fields);
      const selection = isList
        ? inner.selection
        : [withSelection('items', inner.selection), ...counts, options.extra ?? ''].join(' ').trim();
      const limitArgument = field.args.find((argument) => argument.name === 'limit');
      const defaultLimit = limitArgument && (ruleOf(limitArgument)?.default ?? (limitArgument.defaultValue as number));
      const key = rel.includes(':') ? rel : `svc:${rel}`;
      const derived = createDerivedLinks();
      return {
        selection,
        keys: [],
        identity: [],
        single: false,
        collection: { rel: key, item: inner, extra: options.extra ?? '' },
        links: Object.fromEntries(Object.keys(options.links ?? {}).map((name) => [name, undefined])),
        derived,
        ...(isList && { listLimit: defaultLimit }),
        present(result, request) {
          const page: Json = isList ? {} : (result as Json);
          const items = (isList ? result : page['items']) as unknown[];
          for (let index = 0; index < items.length; index += 1) items[index] = inner.present(items[index], request);
          const start =
            (page['start'] as number | undefined) ?? (request.variables['start'] as number | undefined) ?? 0;
          const count = items.length;
          const total = (page['total'] as number | undefined) ?? request.total ?? start + count;
          const limit = (request.variables['limit'] as number | undefined) ?? defaultLimit;
          const next = options.cursor === undefined ? undefined : { after: page[options.cursor] as string | null };
          const { up, ...pages } = pageLinks(request.url, { start, count, total, limit }, next);
          const _links: HalLinks = derived.hasPages ? { ...pages, up } : { up };
          if (derived.up !== undefined) _links['up'] = { href: derived.up };
          for (const name in options.links) _links[name] = { href: options.links[name]!(request.url) };
          addChildLinks(_links, page, pathOf(request.url), derived, request.viewer);
          return {
            ...page,
            items: undefined,
            _links,
            _embedded: { [key]: items },
            start,
            count,
            total,
          };
        },
      };
    },
  };
}

import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isLeafType,
  isListType,
  isObjectType,
  parse,
  type GraphQLField,
  type GraphQLOutputType,
  type SelectionNode,
} from 'graphql';
import { pageLinks, type PresentedRequest } from './page-links.ts';

type Json = Record<string, unknown>;

/** A presenter fitted to the type its field answers; everything that can be known at start-up is. */
export interface Presentation {
  /** GraphQL selection without braces; empty for a leaf. */
  selection: string;
  /** Top-level names of the record as printed. A PUT may send them back. */
  keys: readonly string[];
  /** Names among `keys` that no PUT may change. */
  identity: readonly string[];
  /** The record's version, for its ETag; read before `present`. */
  version?: (answer: Json) => number | undefined;
  /** What REST prints. May change the answer in place: it belongs to this request alone. */
  present(answer: unknown, asked: PresentedRequest): unknown;
  /** The path of the record itself, below the host. */
  self?: (answer: Json, params: Readonly<Record<string, string>>) => string | undefined;
  /** How the operation is printed when the client does not wait for the result. */
  deferred?: Presentation;
  /** One record, which gets an ETag. */
  single: boolean;
  /** For the OpenAPI document: relation and item of a collection, what it prints beside, links and embedded parts of a resource, the shape that a map makes. */
  collection?: { rel: string; item: Presentation; extra: string };
  links?: Links;
  embeds?: readonly { rel: string; name: string; inner: Presentation }[];
  shape?: Readonly<Json>;
  /** What is printed is one field of the answer. */
  unwraps?: { field: string; inner: Presentation };
}

/** How an answer is printed: a selection and what is done with it. */
export interface Presenter {
  /** Fits the presenter to a field; `within` says that its records are items of something else and need no version. */
  on(type: GraphQLOutputType, field: GraphQLField<unknown, unknown>, within?: boolean): Presentation;
}

/** Paths below `/api` by relation; undefined ones are left out. */
export type Links = Record<string, string | undefined>;

export interface ResourceOptions {
  /** Fields that move into `_embedded`: `{'svc:tag': {field: 'tag', as: tag}}`. What the selection names too stays in its place besides. */
  embed?: Record<string, { field: string; as: Presenter }>;
  /** Fields beside id, tenant, naturalId and createdAt that a PUT refuses to change. */
  identity?: readonly string[];
  /** Fields that are selected (for `status`, or links) but not printed. */
  hidden?: readonly string[];
}

const IDENTITY = ['id', 'tenant', 'naturalId', 'createdAt'];

const fieldsOf = (type: GraphQLOutputType) => {
  const named = getNamedType(type);
  return isObjectType(named) ? named.getFields() : {};
};
const withSelection = (name: string, selection: string): string => (selection ? `${name} { ${selection} }` : name);

/** Names at the top of a selection, as the answer has them. */
function topLevelNames(selection: string): string[] {
  const [operation] = parse(`{ ${selection} }`).definitions;
  const nodes: readonly SelectionNode[] =
    operation?.kind === 'OperationDefinition' ? operation.selectionSet.selections : [];
  return nodes.flatMap((node) => (node.kind === 'Field' ? [(node.alias ?? node.name).value] : []));
}

/** Calls `links` once with a record that only notes which fields are read, so that they are selected without being spelled twice. */
function traceLinks<T>(links: (record: T, params: Readonly<Record<string, string>>) => Links): {
  reads: string[];
  templates: Links;
} {
  const reads = new Set<string>();
  const probe = (noted?: Set<string>) =>
    new Proxy({}, { get: (_, name) => (noted?.add(String(name)), `{${String(name)}}`) });
  const templates = links(probe(reads) as T, probe() as Record<string, string>);
  return { reads: [...reads], templates };
}

const href = (path: string): { href: string } => ({ href: `/api${path}` });

/** One record with its `_links`; `links` may read any field of the type, selected or not. */
export function resource<T>(
  selection: string,
  links: (record: T, params: Readonly<Record<string, string>>) => Links,
  options: ResourceOptions = {},
): Presenter {
  const printed = topLevelNames(selection);
  const { reads, templates } = traceLinks(links);
  const identity = [...IDENTITY, ...(options.identity ?? [])].filter((name) => printed.includes(name));
  return {
    on(type, field, within = false) {
      const fields = fieldsOf(type);
      const embeds = Object.entries(options.embed ?? {}).map(([rel, { field: name, as }]) => ({
        rel,
        name,
        inner: as.on(fields[name]?.type ?? type, field, true),
      }));
      const versioned = !within && 'version' in fields;
      const hidden = [...new Set([...reads, ...(options.hidden ?? []), ...(versioned ? ['version'] : [])])].filter(
        (name) => !printed.includes(name),
      );
      return {
        selection: [selection, ...hidden, ...embeds.map(({ name, inner }) => withSelection(name, inner.selection))].join(' '),
        keys: printed,
        identity,
        links: templates,
        embeds,
        single: true,
        ...(versioned && { version: (answer: Json) => answer['version'] as number }),
        self: (answer, params) => {
          const path = links(answer as T, params)['self'];
          return path && `/api${path}`;
        },
        present(answer, asked) {
          const record = answer as Json;
          const _links: Record<string, { href: string }> = {};
          const paths = links(record as T, asked.params);
          for (const rel in paths) if (paths[rel] !== undefined) _links[rel] = href(paths[rel]);
          for (const name of hidden) record[name] = undefined;
          record['_links'] = _links;
          if (embeds.length > 0)
            record['_embedded'] = Object.fromEntries(
              embeds.map(({ rel, name, inner }) => [rel, embedField(record, name, inner, asked, printed.includes(name))]),
            );
          return record;
        },
      };
    },
  };
}

/** Takes a field out of a record, unless it `stays` too, and presents it, each item of it where it is a list. */
function embedField(record: Json, name: string, inner: Presentation, asked: PresentedRequest, stays: boolean): unknown {
  const held = record[name];
  if (!stays) record[name] = undefined;
  if (held === null || held === undefined) return null;
  return Array.isArray(held) ? held.map((item) => inner.present(item, asked)) : inner.present(held, asked);
}

/** The field's JSON as it is, or what `map` makes of it (`shape` is then its JSON Schema). `*` selects every leaf of the type. */
export function value<T = unknown>(
  selection = '',
  map?: (answer: T, params: Readonly<Record<string, string>>) => unknown,
  shape: Readonly<Json> = {},
): Presenter {
  return {
    on(type) {
      const leaves = () =>
        Object.values(fieldsOf(type))
          .filter((field) => isLeafType(getNamedType(field.type)) && field.args.length === 0)
          .map((field) => field.name)
          .join(' ');
      const chosen = selection === '*' ? leaves() : selection;
      return {
        selection: chosen || (isCompositeType(getNamedType(type)) ? '__typename' : ''),
        keys: chosen ? topLevelNames(chosen) : [],
        identity: [],
        single: false,
        ...(map && { shape }),
        present: map ? (answer, asked) => map(answer as T, asked.params) : (answer) => answer,
      };
    },
  };
}

/** `{success: true}`, whatever the field answers. */
export const confirmation = value('', () => ({ success: true }), {
  type: 'object',
  properties: { success: { const: true } },
  required: ['success'],
});

export interface CollectionOptions {
  /** Selection of further fields of the page that are printed beside `total`. */
  extra?: string;
  /** The page's field that names the next page; `next` then goes by `?after=`, and there is no `last`. */
  cursor?: string;
}

/** A HAL collection under `svc:<rel>`. The field answers a page (`items start count total`) or a plain list. */
export function collection(rel: string, item: Presenter, options: CollectionOptions = {}): Presenter {
  return {
    on(type, field) {
      const list = isListType(getNullableType(type));
      const fields = list ? {} : fieldsOf(type);
      const inner = item.on(list ? type : (fields['items']?.type ?? type), field, true);
      const known = ['start', 'count', 'total'].filter((name) => name in fields);
      const selection = list
        ? inner.selection
        : [withSelection('items', inner.selection), ...known, options.extra ?? ''].join(' ').trim();
      const byDefault = field.args.find((argument) => argument.name === 'limit')?.defaultValue as number | undefined;
      const key = rel.includes(':') ? rel : `svc:${rel}`;
      return {
        selection,
        keys: [],
        identity: [],
        single: false,
        collection: { rel: key, item: inner, extra: options.extra ?? '' },
        present(answer, asked) {
          const page: Json = list ? {} : (answer as Json);
          const items = (list ? answer : page['items']) as unknown[];
          for (let index = 0; index < items.length; index += 1) items[index] = inner.present(items[index], asked);
          const start = (page['start'] as number | undefined) ?? (asked.variables['start'] as number | undefined) ?? 0;
          const count = items.length;
          const total = (page['total'] as number | undefined) ?? start + count;
          const limit = (asked.variables['limit'] as number | undefined) ?? byDefault;
          const next = options.cursor === undefined ? undefined : { after: page[options.cursor] as string | null };
          return {
            ...page,
            items: undefined,
            _links: pageLinks(asked.url, { start, count, total, limit }, next),
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

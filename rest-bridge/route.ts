import type { Handler } from './call.ts';
import { collection, resource, value, type Presenter } from './present.ts';
import { resourcePath } from './resource-path.ts';
import { tag } from './tag.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Json = Record<string, unknown>;

/** Options of a row. Most rows have none. */
interface RouteOptions {
  /**
   * Status of success. Default 200, or 204 for a row without a presenter. With 201 the header `Location` is the
   * record's link `self`.
   */
  status?: number | ((result: Json) => number);
  /**
   * Arguments of a POST or PUT that are in the query string instead of the body. GET and DELETE have all arguments
   * there.
   */
  query?: readonly string[];
  /** Argument that takes the whole body. Default `input`, if the field has it. */
  body?: string;
  /** Converts the body that clients send to the one that the field takes. Runs before the check for unknown keys. */
  map?: (body: Json, params: Record<string, string>) => Json;
  /** Argument names by the names in path, query or body that differ from them: `{dataset: 'alias'}`. */
  rename?: Readonly<Record<string, string>>;
  /** Constant arguments of this row, as GraphQL values. */
  fixed?: Readonly<Json>;
  /** Whether a null result is the body `null` instead of a 404. */
  nullable?: boolean;
  /** PUT: further keys of our own responses that are ignored, in addition to the presenter's. */
  ignored?: readonly string[];
  /** PUT: fields that cannot be changed. Replaces those of the presenter; `[]` switches the check off. */
  identity?: readonly string[];
  /** Permission of a row without a GraphQL field. `public` allows callers without credentials. */
  permission?: string;
  /**
   * What the row reads: `json` (default), `multipart` (a form, whose texts are keys of the input and whose first file
   * is `file`), or `bytes` for a handler that reads the stream `request.body`.
   */
  consumes?: 'json' | 'multipart' | 'bytes';
  /** Media types that the handler returns, for the OpenAPI document. */
  produces?: string | readonly string[];
  /** Handler of the row's own, for requests or responses that are not JSON. */
  handler?: Handler;
}

/**
 * One route: method, path, the GraphQL field that it runs, and how the result is presented. Paths are below `/api`.
 * A last parameter `:name*` takes the rest of the path.
 */
export interface Row {
  method: Method;
  path: string;
  /**
   * `createJob`, `dataset.filters` (a child is a field of its parent), `Subscription.progress`; null for a handler
   * without a field.
   */
  field: string | null;
  presenter?: Presenter;
  /** Whether sofa-api serves the row: the response is the JSON of the field. */
  plain?: boolean;
  options: RouteOptions;
}

type CreateRow = (path: string, field: string | null, presenter?: Presenter, options?: RouteOptions) => Row;
const createVerb =
  (method: Method, preset: RouteOptions = {}): CreateRow =>
  (path, field, presenter, options = {}) => ({ method, path, field, presenter, options: { ...preset, ...options } });

export const get = createVerb('GET');
export const post = createVerb('POST');
export const put = createVerb('PUT');
/** Without a presenter the response is an empty 204. */
export const del = createVerb('DELETE');
/** A POST that creates a resource: 201 with `Location`. */
export const create = createVerb('POST', { status: 201 });

/** Declares a row whose response is the JSON of the field. The selection `*` is every leaf of its type. */
export const plain = (
  method: Method,
  path: string,
  field: string,
  selection = '*',
  options: RouteOptions = {},
): Row => ({ method, path, field, presenter: value(selection), plain: true, options });

/** A kind's names in paths, in records (`queryId`) and in GraphQL. */
interface KindNames {
  path: string;
  word: string;
  one: string;
  many: string;
  type: string;
}
/** Rows that many kinds have: `(names) => [get(`${names.path}/:id/owner`, `${names.one}.owner`, …)]`. */
export type Aspect = (names: KindNames) => Row[];

export const permissions: Aspect = ({ path, one }) => [plain('GET', `${path}/:id/permissions`, `${one}.permissions`)];

const owner: Aspect = ({ path, one, type }) => {
  const owned = value('ownerId owner { id name type email description }');
  return [get(`${path}/:id/owner`, one, owned), put(`${path}/:id/owner`, `set${type}Owner`, owned)];
};

/** Creates the rows of shares. `fields` is the selection of fields that only shares of this kind have. */
export const createShareRows =
  (fields = ''): Aspect =>
  ({ path, word, one, type }) => {
    const share = resource<{ principalId: string }>(
      `${word}Id: resourceId principalId principal { id name type email } accessLevel ${fields} createdAt updatedAt`,
      ({ principalId }, { id }) => ({ self: `${path}/${id}/shares/${principalId}`, [`svc:${word}`]: `${path}/${id}` }),
    );
    const single = `${path}/:id/shares/:principalId`;
    return [
      get(`${path}/:id/shares`, `${one}.shares`, collection('share', share)),
      get(single, `${one}.share`, share),
      put(single, `share${type}`, share),
      del(single, `unshare${type}`),
    ];
  };

/** How the assignments of tags to a kind are presented: in the list, alone, and as the response of a PUT. */
interface TagPresenters {
  item: Presenter;
  single: Presenter;
  assigned: Presenter;
  assignedOptions?: RouteOptions;
}
type TagLinks = (record: { tagId: string }, params: Readonly<Record<string, string>>) => Record<string, string>;

/** Embeds the tag of an assignment. */
export const embeddedTag = { 'svc:tag': { field: 'tag', as: tag } };

const presentTags = ({ word }: KindNames, links: TagLinks): TagPresenters => {
  const short = `tagId ${word}Id: resourceId`;
  const full = `${short} tag { id name color description createdAt }`;
  return {
    item: resource(full, links),
    single: resource(full, links, { embed: embeddedTag }),
    assigned: resource(short, links),
  };
};

/** Creates the rows of assigned tags, with presenters of the kind's own where it has them. */
export const createTagRows =
  (present: (names: KindNames, links: TagLinks) => TagPresenters = presentTags): Aspect =>
  (names) => {
    const { path, word, one, type } = names;
    const { item, single, assigned, assignedOptions } = present(names, ({ tagId }, { id }) => ({
      self: `${path}/${id}/tags/${tagId}`,
      [`svc:${word}`]: `${path}/${id}`,
      'svc:tag': `/tags/${tagId}`,
    }));
    const singlePath = `${path}/:id/tags/:tagId`;
    return [
      get(`${path}/:id/tags`, `${one}.tagAssignments`, collection('tag-entity', item)),
      get(singlePath, `${one}.tagAssignment`, single),
      put(singlePath, `tag${type}`, assigned, assignedOptions),
      del(singlePath, `untag${type}`),
    ];
  };

const favorite: Aspect = ({ path, one, type }) => {
  const single = `${path}/:id/favorite`;
  const confirmed = value('resourceId', () => ({ favorited: true }), {
    type: 'object',
    properties: { favorited: { const: true } },
    required: ['favorited'],
  });
  return [
    get(single, one, value('favorited')),
    put(single, `favorite${type}`, confirmed),
    del(single, `unfavorite${type}`),
  ];
};

const reference = resource<{ kind: string; id: string }>('kind id name ownerId', ({ kind: word, id }) => ({
  self: resourcePath({ kind: word, id }),
}));
const references: Aspect = ({ path, one }) => [
  get(`${path}/:id/references`, `${one}.references`, collection('reference', reference, { extra: 'hidden' })),
];

const activity: Aspect = ({ path, word, one }) => {
  const record = resource<{ userId: string | null }>(
    `id type userId user { id name type } ${word}Id: resourceId kind name message data createdAt`,
    ({ userId }, { id }) => ({ [`svc:${word}`]: `${path}/${id}`, 'svc:user': userId ? `/users/${userId}` : undefined }),
  );
  return [get(`${path}/:id/activity`, `${one}.activity`, collection('activity', record))];
};

const OWNED = { permissions, owner, shares: createShareRows(), tags: createTagRows(), favorite, activity, references };

/**
 * Returns the aspects of a kind that users own and share. `own` replaces those in which the kind differs from all
 * others.
 */
export const ownedAspects = (own: Partial<typeof OWNED> = {}): Aspect[] => Object.values({ ...OWNED, ...own });

type CrudRow = 'list' | 'create' | 'read' | 'update' | 'delete';
interface KindOptions {
  /** Names in GraphQL that differ from the path's: `{one: 'savedQuery', many: 'savedQueries'}`. */
  names?: Partial<Pick<KindNames, 'one' | 'many'>>;
  without?: readonly CrudRow[];
  /** Options of single rows: `{create: {status: 200}}`. */
  rows?: Partial<Record<CrudRow, RouteOptions>>;
  /** Presents the items of the list. Default: the kind's presenter. */
  item?: Presenter;
  /**
   * Rows in addition to list, create, read, update and delete. Default: those of all kinds that users own and share.
   */
  aspects?: readonly Aspect[];
}

const toCamelCase = (kebab: string): string => kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const capitalize = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/**
 * Returns all rows of a kind: `kind('datasets', 'dataset', dataset)` lists, creates, reads, updates and deletes below
 * `/datasets`, with the relation `svc:dataset`.
 */
export function kind(plural: string, singular: string, presenter: Presenter, options: KindOptions = {}): Row[] {
  const one = options.names?.one ?? toCamelCase(singular);
  const names = {
    path: `/${plural}`,
    word: toCamelCase(singular),
    one,
    many: options.names?.many ?? toCamelCase(plural),
    type: capitalize(one),
  };
  const { path, many, type } = names;
  const crud: Record<CrudRow, () => Row> = {
    list: () => get(path, many, collection(singular, options.item ?? presenter), options.rows?.list),
    create: () => create(path, `create${type}`, presenter, options.rows?.create),
    read: () => get(`${path}/:id`, one, presenter, options.rows?.read),
    update: () => put(`${path}/:id`, `update${type}`, presenter, options.rows?.update),
    delete: () => del(`${path}/:id`, `delete${type}`, undefined, options.rows?.delete),
  };
  const crudRows = (Object.keys(crud) as CrudRow[]).filter((name) => !options.without?.includes(name));
  return [
    ...crudRows.map((name) => crud[name]()),
    ...(options.aspects ?? ownedAspects()).flatMap((aspect) => aspect(names)),
  ];
}

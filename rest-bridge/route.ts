import type { Handler } from './call.ts';
import { collection, resource, value, type Presenter } from './present.ts';
import { resourcePath } from './resource-path.ts';
import { tag } from './tag.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Json = Record<string, unknown>;

/** What a row may say beyond method, path, field and presenter. Most rows say nothing. */
export interface RouteOptions {
  /** Status of success. By default 200, and 204 for a row without a presenter. A 201 carries `Location`, the answer's own `self`. */
  status?: number | ((answer: Json) => number);
  /** Arguments of a POST or PUT that come from the query string; the others come from the body. (GET and DELETE take all from the query string.) */
  query?: readonly string[];
  /** The argument that takes the body as a whole. By default `input`, where the field has one. */
  body?: string;
  /** Turns the body that clients send into the one that the field takes. It runs before unknown keys are looked for. */
  map?: (body: Json, params: Record<string, string>) => Json;
  /** Names in the path, query or body whose argument is called otherwise: `{dataset: 'alias'}`. */
  rename?: Readonly<Record<string, string>>;
  /** Arguments that this row fixes, in GraphQL's words. */
  fixed?: Readonly<Json>;
  /** A null answer is printed as `null` instead of being a 404. */
  nullable?: boolean;
  /** PUT: keys beside the presenter's own that are ignored because an answer of ours contains them. */
  ignored?: readonly string[];
  /** PUT: fields of the record that are refused when changed; replaces what the presenter names. `[]` switches the check off. */
  identity?: readonly string[];
  /** Permission of a row that names no GraphQL field (`public` opens it). */
  permission?: string;
  /** One sentence for the OpenAPI document; the GraphQL field's description otherwise. */
  summary?: string;
  /** What the row reads: `json` (default), `multipart` (a form: texts are keys of the input, its first file is `file`) or, by an own handler, `bytes` (`request.body` is the unread stream). */
  consumes?: 'json' | 'multipart' | 'bytes';
  /** Media type that an own handler answers with, or those it chooses from, for the OpenAPI document. */
  produces?: string | readonly string[];
  /** The row's own hand-written adapter, where JSON in and JSON out do not fit. */
  handler?: Handler;
}

/** One route: what is called, which GraphQL field it runs and how the answer is presented. Paths are below `/api`; a last `:name*` takes the rest of the path. */
export interface Row {
  method: Method;
  path: string;
  /** `createJob`, `dataset.filters` (a child runs through its parent), `Subscription.progress`; null for adapters of what GraphQL does not have. */
  field: string | null;
  presenter?: Presenter;
  /** sofa-api carries the row: its answer is the field's plain JSON. */
  plain?: boolean;
  options: RouteOptions;
}

type Verb = (path: string, field: string | null, presenter?: Presenter, options?: RouteOptions) => Row;
const verb =
  (method: Method, preset: RouteOptions = {}): Verb =>
  (path, field, presenter, options = {}) => ({ method, path, field, presenter, options: { ...preset, ...options } });

export const get = verb('GET');
export const post = verb('POST');
export const put = verb('PUT');
/** Without a presenter the answer is an empty 204. */
export const del = verb('DELETE');
/** A POST that makes something: 201 with `Location`. */
export const create = verb('POST', { status: 201 });

/** A row whose answer is the field's JSON as it is; `*` selects every leaf of the answered type. */
export const plain = (
  method: Method,
  path: string,
  field: string,
  selection = '*',
  options: RouteOptions = {},
): Row => ({ method, path, field, presenter: value(selection), plain: true, options });

/** A kind's names in paths, in records (`queryId`) and in GraphQL. */
export interface KindNames {
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

const shares: Aspect = ({ path, word, one, type }) => {
  const part = word === 'dataset' ? 'datasetFilterId restrictFields visibleFields' : '';
  const share = resource<{ principalId: string }>(
    `${word}Id: resourceId principalId principal { id name type email } accessLevel ${part} createdAt updatedAt`,
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

/** The specification gives assignments of an app's tags a record and statuses of their own; all other kinds have the query's. */
const tags: Aspect = ({ path, word, one, type }) => {
  const links = ({ tagId }: { tagId: string }, { id }: Readonly<Record<string, string>>) => ({
    self: `${path}/${id}/tags/${tagId}`,
    [`svc:${word}`]: `${path}/${id}`,
    'svc:tag': `/tags/${tagId}`,
  });
  const embed = { 'svc:tag': { field: 'tag', as: tag } };
  const short = `tagId ${word}Id: resourceId`,
    whole = `${short} tag { id name color description createdAt }`;
  const app =
    word === 'app'
      ? resource(`id appId: resourceId tagId createdAt updatedAt`, links, { embed, hidden: ['created'] })
      : undefined;
  const single = `${path}/:id/tags/:tagId`;
  return [
    get(`${path}/:id/tags`, `${one}.tagAssignments`, collection('tag-entity', app ?? resource(whole, links))),
    get(single, `${one}.tagAssignment`, app ?? resource(whole, links, { embed })),
    put(
      single,
      `tag${type}`,
      app ?? resource(short, links),
      app && { status: ({ created }) => (created === true ? 201 : 200) },
    ),
    del(single, `untag${type}`),
  ];
};

/** The specification gives a query's favourite a record; all other kinds say, as jobs do, whether they are one. */
const favorite: Aspect = ({ path, word, one, type }) => {
  const single = `${path}/:id/favorite`;
  const record = resource(`${word}Id: resourceId userId createdAt`, (_, { id }) => ({
    self: `${path}/${id}/favorite`,
    [`svc:${word}`]: `${path}/${id}`,
  }));
  const yes = value('resourceId', () => ({ favorited: true }), {
    type: 'object',
    properties: { favorited: { const: true } },
    required: ['favorited'],
  });
  const [asked, set] =
    word === 'query' ? [get(single, `${one}.favorite`, record), record] : [get(single, one, value('favorited')), yes];
  return [asked, put(single, `favorite${type}`, set), del(single, `unfavorite${type}`)];
};

const reference = resource<{ kind: string; id: string }>('kind id name ownerId', ({ kind: word, id }) => ({
  self: resourcePath({ kind: word, id }),
}));
const references: Aspect = ({ path, one }) => [
  get(`${path}/:id/references`, `${one}.references`, collection('reference', reference, { extra: 'hidden' })),
];

/** Datasets name themselves `datasetId`, as the specification has it, and every other kind likewise. */
const activity: Aspect = ({ path, word, one }) => {
  const record = resource<{ userId: string | null }>(
    `id type userId user { id name type } ${word}Id: resourceId kind name message data createdAt`,
    ({ userId }, { id }) => ({ [`svc:${word}`]: `${path}/${id}`, 'svc:user': userId ? `/users/${userId}` : undefined }),
  );
  return [get(`${path}/:id/activity`, `${one}.activity`, collection('activity', record))];
};

/** What every kind has that people own and share. */
const OWNED: readonly Aspect[] = [permissions, owner, shares, tags, favorite, activity, references];

type CrudRow = 'list' | 'create' | 'read' | 'update' | 'delete';
export interface KindOptions {
  /** Names in GraphQL where they are not the path's: `{one: 'savedQuery', many: 'savedQueries'}`. */
  names?: Partial<Pick<KindNames, 'one' | 'many'>>;
  without?: readonly CrudRow[];
  /** Options of single rows: `{create: {status: 200}}`. */
  rows?: Partial<Record<CrudRow, RouteOptions>>;
  /** Presents the items of the list; the kind's presenter by default. */
  item?: Presenter;
  /** What the kind has beside list, create, read, update and delete. By default what all kinds have that people own and share. */
  aspects?: readonly Aspect[];
}

const camel = (kebab: string): string => kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** All rows of a kind: `kind('datasets', 'dataset', dataset)` lists, creates, reads, updates and deletes under `/datasets`, with the relation `svc:dataset`. */
export function kind(plural: string, singular: string, presenter: Presenter, options: KindOptions = {}): Row[] {
  const one = options.names?.one ?? camel(singular);
  const names = {
    path: `/${plural}`,
    word: camel(singular),
    one,
    many: options.names?.many ?? camel(plural),
    type: capital(one),
  };
  const { path, many, type } = names;
  const crud: Record<CrudRow, () => Row> = {
    list: () => get(path, many, collection(singular, options.item ?? presenter), options.rows?.list),
    create: () => create(path, `create${type}`, presenter, options.rows?.create),
    read: () => get(`${path}/:id`, one, presenter, options.rows?.read),
    update: () => put(`${path}/:id`, `update${type}`, presenter, options.rows?.update),
    delete: () => del(`${path}/:id`, `delete${type}`, undefined, options.rows?.delete),
  };
  const kept = (Object.keys(crud) as CrudRow[]).filter((name) => !options.without?.includes(name));
  return [...kept.map((name) => crud[name]()), ...(options.aspects ?? OWNED).flatMap((aspect) => aspect(names))];
}

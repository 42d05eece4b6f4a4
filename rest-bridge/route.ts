import type { Handler } from './call.ts';
import { collection, value, type Presenter } from './present.ts';

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
const verb = (method: Method, preset: RouteOptions = {}): Verb =>
  (path, field, presenter, options = {}) => ({ method, path, field, presenter, options: { ...preset, ...options } });

export const get = verb('GET');
export const post = verb('POST');
export const put = verb('PUT');
/** Without a presenter the answer is an empty 204. */
export const del = verb('DELETE');
/** A POST that makes something: 201 with `Location`. */
export const create = verb('POST', { status: 201 });

/** A row whose answer is the field's JSON as it is; `*` selects every leaf of the answered type. */
export const plain = (method: Method, path: string, field: string, selection = '*', options: RouteOptions = {}): Row =>
  ({ method, path, field, presenter: value(selection), plain: true, options });

/** A kind's names in paths and in GraphQL. */
export interface KindNames { path: string; one: string; many: string; type: string }
/** Rows that many kinds have: `(names) => [get(`${names.path}/:id/owner`, `${names.one}.owner`, …)]`. */
export type Aspect = (names: KindNames) => Row[];

export const permissions: Aspect = ({ path, one }) => [plain('GET', `${path}/:id/permissions`, `${one}.permissions`)];

type CrudRow = 'list' | 'create' | 'read' | 'update' | 'delete';
export interface KindOptions {
  /** Names in GraphQL where they are not the path's: `{one: 'savedQuery', many: 'savedQueries'}`. */
  names?: Partial<Pick<KindNames, 'one' | 'many'>>;
  without?: readonly CrudRow[];
  /** Options of single rows: `{create: {status: 200}}`. */
  rows?: Partial<Record<CrudRow, RouteOptions>>;
  /** Presents the items of the list; the kind's presenter by default. */
  item?: Presenter;
  /** What the kind has beside list, create, read, update and delete. By default its `permissions`. */
  aspects?: readonly Aspect[];
}

const camel = (kebab: string): string => kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** All rows of a kind: `kind('datasets', 'dataset', dataset)` lists, creates, reads, updates and deletes under `/datasets`, with the relation `svc:dataset`. */
export function kind(plural: string, singular: string, presenter: Presenter, options: KindOptions = {}): Row[] {
  const one = options.names?.one ?? camel(singular);
  const names = { path: `/${plural}`, one, many: options.names?.many ?? camel(plural), type: capital(one) };
  const { path, many, type } = names;
  const crud: Record<CrudRow, () => Row> = {
    list: () => get(path, many, collection(singular, options.item ?? presenter), options.rows?.list),
    create: () => create(path, `create${type}`, presenter, options.rows?.create),
    read: () => get(`${path}/:id`, one, presenter, options.rows?.read),
    update: () => put(`${path}/:id`, `update${type}`, presenter, options.rows?.update),
    delete: () => del(`${path}/:id`, `delete${type}`, undefined, options.rows?.delete),
  };
  const kept = (Object.keys(crud) as CrudRow[]).filter((name) => !options.without?.includes(name));
  return [...kept.map((name) => crud[name]()), ...(options.aspects ?? [permissions]).flatMap((aspect) => aspect(names))];
}

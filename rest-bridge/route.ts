import type { Handler } from './call.ts';
import type { KeyedLists } from './keyed-lists.ts';
import { value, type Presenter } from './present.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Json = Record<string, unknown>;

/** An id for the examples of rows. */
export const EXAMPLE_ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Facts for the OpenAPI document that do not follow from the field of a row. */
interface RouteDocumentation {
  /** Id of the operation where the one derived from the field would be wrong or not unique. */
  id?: string;
  /** Summary where the one derived from the field would be wrong. */
  summary?: string;
  /** Description of a row without a field, which then has a `summary`, too. */
  description?: string;
  /** Example of the request body. Each row with a JSON body or a form has one. */
  example?: Readonly<Json> | string;
  /** Examples of parameters whose names mean something else than in other rows. */
  parameterExamples?: Readonly<Json>;
  /** Example of the response where its schema does not say enough. */
  responseExample?: Readonly<Json> | readonly Json[];
}

/** Options of a row. */
export interface RouteOptions extends RouteDocumentation {
  /**
   * Status of success. Default 200, or 204 for a row without a presenter. With 201 the header `Location` is the
   * record's link `self`.
   */
  status?: number | { oneOf: readonly number[]; of(result: Json): number };
  /**
   * Arguments of a POST or PUT that are in the query string instead of the body. GET and DELETE have all arguments
   * there.
   */
  query?: readonly string[];
  /** Argument that takes the query string as it is. The row then accepts parameters of any name there. */
  queryText?: string;
  /** Argument that takes the whole body. Default `input`, if the field has it. */
  body?: string;
  /** Converts the body that clients send to the one that the field takes. Runs before the check for unknown keys. */
  map?: (body: Json, params: Record<string, string>) => Json;
  /** Lists of the input that are objects in the body, e.g. datasets by their alias. */
  keyed?: KeyedLists;
  /** Argument names by the names in path, query or body that differ from them: `{dataset: 'alias'}`. */
  rename?: Readonly<Record<string, string>>;
  /** Constant arguments of this row, as GraphQL values. */
  fixed?: Readonly<Json>;
  /** Whether a null result is the body `null` instead of a 404. */
  nullable?: boolean;
  /** PUT: further keys of our own responses that are ignored, in addition to the presenter's. */
  ignored?: readonly string[];
  /** PUT: fields that cannot be changed. Replaces the fields of the presenter; `[]` switches the check off. */
  identity?: readonly string[];
  /**
   * Permission of a row without a GraphQL field, where `public` allows callers without credentials, or of one whose
   * field is below the root and requires more than its root field.
   */
  permission?: string;
  /**
   * Format of the request: `json` (default), `multipart` (a form, whose texts are keys of the input and whose first file
   * is `file`), `file` (such a form, or a body of any other type, which is the file itself), or `bytes` for a handler that
   * reads the stream `request.body`.
   */
  consumes?: 'json' | 'multipart' | 'file' | 'bytes';
  /** Media types that the handler returns, for the OpenAPI document. */
  produces?: string | readonly string[];
  /** Whether the field calls `revalidate` of the context: the response has its digest as ETag. */
  revalidates?: boolean;
  /** Path on which the method QUERY (RFC 10008) has the effect of this row, which reads only. */
  queryPath?: string;
  /** Whether the record above the path links it, or a function of that record. Default true. */
  linked?: boolean | ((record: Readonly<Json>) => boolean);
  /** Whether browsers open the path: an error is then a page for them. */
  opensPage?: boolean;
  /** Other paths with the same parameters. The contract documents them, the OpenAPI document does not repeat the row. */
  aliases?: readonly string[];
  /** Whether a last parameter `:name*` may be empty, without the slash before it. */
  optionalRest?: boolean;
  /**
   * Which routes of apps the row passes requests to: those below `view`, or webhooks, of the app with the id in the path
   * (`webhook`) or with the hook token there (`hook`).
   */
  runsApp?: 'view' | 'webhook' | 'hook';
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
   * without a field, and for a presenter that needs no data.
   */
  field: string | null;
  presenter?: Presenter;
  /** Whether sofa-api serves the row: the response is everything that the type of the field contains. */
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
export const patch = createVerb('PATCH');
/** Without a presenter the response is an empty 204. */
export const del = createVerb('DELETE');
/** A POST that creates a resource: 201 with `Location`. */
export const create = createVerb('POST', { status: 201 });

/**
 * Declares a row that sofa-api serves. Its response is everything that the type of a root field contains, without enums.
 * The field has no arguments but the parameters of the path.
 */
export const plain = (method: Method, path: string, field: string, options: RouteDocumentation = {}): Row => ({
  method,
  path,
  field,
  presenter: value('*'),
  plain: true,
  options,
});

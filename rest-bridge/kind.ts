import { capitalize } from '../src/core/capitalize.ts';
import { collection, resource, value, type Presenter } from './present.ts';
import { create, del, EXAMPLE_ID, get, put, type Json, type RouteOptions, type Row } from './route.ts';
import type { Links } from './selection.ts';
import { tag } from './tag.ts';
import { toCamelCase } from './words.ts';

/** The names of a kind, e.g. of saved queries. */
interface KindNames {
  /** Path of the list, e.g. `/queries`. */
  path: string;
  /** Name in records and links, e.g. `query` in `queryId`. */
  name: string;
  /** Root field of one resource, e.g. `savedQuery`. */
  field: string;
  /** Root field of the list, e.g. `savedQueries`. */
  listField: string;
  /** Name in mutations, e.g. `SavedQuery` in `createSavedQuery`. */
  typeName: string;
}
/** Rows that many kinds have: `(names) => [get(`${names.path}/:id/owner`, `${names.field}.owner`, …)]`. */
export type Aspect = (names: KindNames) => Row[];

export const permissions: Aspect = ({ path, field }) => [
  get(`${path}/:id/permissions`, `${field}.permissions`, value('*')),
];

const owner: Aspect = ({ path, name, field, typeName }) => {
  const owned = resource('ownerId owner { id name type email description }', (_, { id }) => ({
    [`svc:${name}`]: `${path}/${id}`,
  }));
  const responseExample = {
    ownerId: EXAMPLE_ID,
    owner: { id: EXAMPLE_ID, name: 'Ann', type: 'user', email: null, description: null },
    _links: {
      [`svc:${name}`]: { href: `/api${path}/${EXAMPLE_ID}` },
      'svc:owner': { href: `/api/users/${EXAMPLE_ID}` },
    },
  };
  return [
    get(`${path}/:id/owner`, field, owned, { responseExample }),
    put(`${path}/:id/owner`, `set${typeName}Owner`, owned, { example: { ownerId: `team:${EXAMPLE_ID}` } }),
  ];
};

interface Share {
  principalId: string;
  datasetFilterId?: string | null;
}

/**
 * Creates the rows of shares. `fields` is the selection of fields that only shares of this kind have, `example` their
 * part of the example.
 */
export const createShareRows =
  (
    fields = '',
    linksOf: (share: Share, params: Readonly<Record<string, string>>) => Links = () => ({}),
    example: Readonly<Json> = {},
  ): Aspect =>
  ({ path, name, field, typeName }) => {
    const share = resource<Share>(
      `${name}Id: resourceId principalId principal { id name type email } accessLevel ${fields} createdAt updatedAt`,
      (record, params) => ({
        self: `${path}/${params['id']}/shares/${record.principalId}`,
        [`svc:${name}`]: `${path}/${params['id']}`,
        ...linksOf(record, params),
      }),
    );
    const single = `${path}/:id/shares/:principalId`;
    return [
      get(`${path}/:id/shares`, `${field}.shares`, collection('share', share)),
      get(single, `${field}.share`, share),
      put(single, `share${typeName}`, share, { example: { accessLevel: 1, ...example } }),
      del(single, `unshare${typeName}`),
    ];
  };

/** Presenters of the tags assigned to a kind: in the list, alone, and as the response of a PUT. */
interface TagPresenters {
  item: Presenter;
  single: Presenter;
  assigned: Presenter;
  assignedOptions?: RouteOptions;
}
type TagLinks = (record: { tagId: string }, params: Readonly<Record<string, string>>) => Record<string, string>;

/** Embeds the tag of an assignment. */
export const embeddedTag = { 'svc:tag': { field: 'tag', as: tag } };

const presentTags = ({ name }: KindNames, links: TagLinks): TagPresenters => {
  const short = `tagId ${name}Id: resourceId`;
  const full = `${short} tag { id name color description createdAt }`;
  return {
    item: resource(full, links),
    single: resource(full, links, { embed: embeddedTag }),
    assigned: resource(short, links),
  };
};

/** Creates the rows of assigned tags. A kind may have its own presenters. */
export const createTagRows =
  (present: (names: KindNames, links: TagLinks) => TagPresenters = presentTags): Aspect =>
  (names) => {
    const { path, name, field, typeName } = names;
    const { item, single, assigned, assignedOptions } = present(names, ({ tagId }, { id }) => ({
      self: `${path}/${id}/tags/${tagId}`,
      [`svc:${name}`]: `${path}/${id}`,
      'svc:tag': `/tags/${tagId}`,
    }));
    const singlePath = `${path}/:id/tags/:tagId`;
    return [
      get(`${path}/:id/tags`, `${field}.tagAssignments`, collection('tag-entity', item)),
      get(singlePath, `${field}.tagAssignment`, single),
      put(singlePath, `tag${typeName}`, assigned, assignedOptions),
      del(singlePath, `untag${typeName}`),
    ];
  };

const favorite: Aspect = ({ path, field, typeName }) => {
  const single = `${path}/:id/favorite`;
  const confirmed = value('resourceId', () => ({ favorited: true }), {
    type: 'object',
    properties: { favorited: { const: true } },
    required: ['favorited'],
  });
  return [
    get(single, field, value('favorited'), { responseExample: { favorited: true } }),
    put(single, `favorite${typeName}`, confirmed),
    del(single, `unfavorite${typeName}`),
  ];
};

const reference = resource<{ kind: string; id: string }>('kind id name ownerId', (record, _, pathOfKind) => ({
  self: pathOfKind(record),
}));
const references: Aspect = ({ path, field }) => [
  get(`${path}/:id/references`, `${field}.references`, collection('reference', reference, { extra: 'hidden' })),
];

const activity: Aspect = ({ path, name, field }) => {
  const record = resource<{ userId: string | null }>(
    `id type userId user { id name type } ${name}Id: resourceId kind name message data createdAt`,
    ({ userId }, { id }) => ({ [`svc:${name}`]: `${path}/${id}`, 'svc:user': userId ? `/users/${userId}` : undefined }),
  );
  return [get(`${path}/:id/activity`, `${field}.activity`, collection('activity', record))];
};

const OWNED = { permissions, owner, shares: createShareRows(), tags: createTagRows(), favorite, activity, references };

/**
 * Returns the aspects of a kind that users own and share. `own` replaces those in which the kind differs from the
 * others.
 */
export const ownedAspects = (own: Partial<typeof OWNED> = {}): Aspect[] => Object.values({ ...OWNED, ...own });

type CrudRow = 'list' | 'create' | 'read' | 'update' | 'delete';
interface KindOptions {
  /** Names in GraphQL that differ from the path's: `{field: 'savedQuery', listField: 'savedQueries'}`. */
  names?: Partial<Pick<KindNames, 'field' | 'listField'>>;
  without?: readonly CrudRow[];
  /** Options of single rows: `{create: {status: 200}}`. */
  rows?: Partial<Record<CrudRow, RouteOptions>>;
  /** Presents the items of the list. Default: the kind's presenter. */
  item?: Presenter;
  /**
   * Rows in addition to list, create, read, update and delete. Default: the rows of all kinds that users own and share.
   */
  aspects?: readonly Aspect[];
}

/**
 * Returns all rows of a kind: `kind('datasets', 'dataset', dataset)` lists, creates, reads, updates and deletes below
 * `/datasets`, with the relation `svc:dataset`.
 */
export function kind(plural: string, singular: string, presenter: Presenter, options: KindOptions = {}): Row[] {
  const field = options.names?.field ?? toCamelCase(singular);
  const listField = options.names?.listField ?? toCamelCase(plural);
  const names: KindNames = {
    path: `/${plural}`,
    name: toCamelCase(singular),
    field,
    listField,
    typeName: capitalize(field),
  };
  const { path, typeName } = names;
  const crud: Record<CrudRow, () => Row> = {
    list: () => get(path, listField, collection(singular, options.item ?? presenter), options.rows?.list),
    create: () => create(path, `create${typeName}`, presenter, options.rows?.create),
    read: () => get(`${path}/:id`, field, presenter, options.rows?.read),
    update: () => put(`${path}/:id`, `update${typeName}`, presenter, options.rows?.update),
    delete: () => del(`${path}/:id`, `delete${typeName}`, undefined, options.rows?.delete),
  };
  const crudRows = (Object.keys(crud) as CrudRow[]).filter((name) => !options.without?.includes(name));
  return [
    ...crudRows.map((name) => crud[name]()),
    ...(options.aspects ?? ownedAspects()).flatMap((aspect) => aspect(names)),
  ];
}

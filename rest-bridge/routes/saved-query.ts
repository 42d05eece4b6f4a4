import { kind, ownedAspects, type Aspect } from '../kind.ts';
import { resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, post, put } from '../route.ts';

interface SavedQuery {
  id: string;
  datasourceId: string;
}

const FIELDS = `id tenant slug naturalId name description datasourceId language query
  params { name label dataType defaultValue required description } fields { name label type format }
  ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id, datasourceId }: SavedQuery) => ({
  self: `/queries/${id}`,
  'svc:datasource': `/datasources/${datasourceId}`,
  'svc:permissions': `/queries/${id}/permissions`,
});

const query = resource<SavedQuery>(FIELDS, links);

/** The favorite of a query is a record. Other kinds only return whether they are favorites. */
const queryFavorite: Aspect = ({ path, name, field, typeName }) => {
  const single = `${path}/:id/favorite`;
  const record = resource(`${name}Id: resourceId userId createdAt`, (_, { id }) => ({
    self: `${path}/${id}/favorite`,
    [`svc:${name}`]: `${path}/${id}`,
  }));
  return [
    get(single, `${field}.favorite`, record),
    put(single, `favorite${typeName}`, record),
    del(single, `unfavorite${typeName}`),
  ];
};

const QUERY_EXAMPLE = {
  query: `select i.order_id, o.ordered_at, c.country, i.amount
from order_items i join orders o on o.id = i.order_id join customers c on c.id = o.customer_id
where o.ordered_at >= {{since}}`,
  params: [{ name: 'since', label: 'Since', dataType: 'date', defaultValue: '2026-01-01' }],
};

export default [
  ...kind('queries', 'query', query, {
    names: { field: 'savedQuery', listField: 'savedQueries' },
    aspects: ownedAspects({ favorite: queryFavorite }),
    rows: {
      create: { example: { name: 'Order lines', datasourceId: EXAMPLE_ID, ...QUERY_EXAMPLE } },
      update: { example: QUERY_EXAMPLE },
    },
  }),
  post('/queries/:id/_run', 'runSavedQuery', value('fields { name label type format } rows truncated duration'), {
    aliases: ['/queries/:id/_execute'],
    example: { params: { since: '2026-01-01' }, limit: 10 },
  }),
];

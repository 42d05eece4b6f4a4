import { kind } from '../kind.ts';
import { confirmation, resource } from '../present.ts';
import { del, EXAMPLE_ID, type Json } from '../route.ts';
import { datasource } from './datasource.ts';

interface Suite {
  id: string;
}

const FIELDS = 'id name description datasources createdAt updatedAt permissions { read write delete }';

const links = ({ id }: Suite) => ({ self: `/suites/${id}` });

const listed = resource<Suite>(FIELDS, links);
const single = resource<Suite>(FIELDS, links, { embed: { 'svc:datasource': { field: 'sources', as: datasource } } });

/** Responses name the ids `datasources`, requests name them `datasourceIds`. Lets a client send a response back. */
const renameDatasources = (body: Json): Json => {
  const { datasources, ...rest } = body;
  return datasources === undefined ? body : { datasourceIds: datasources, ...rest };
};

export default [
  ...kind('suites', 'suite', single, {
    item: listed,
    without: ['delete'],
    rows: {
      create: {
        status: 200,
        map: renameDatasources,
        example: { name: 'Shop and warehouse', datasourceIds: [EXAMPLE_ID] },
      },
      update: { map: renameDatasources, example: { datasourceIds: [] } },
    },
    aspects: [],
  }),
  del('/suites/:id', 'deleteSuite', confirmation),
];

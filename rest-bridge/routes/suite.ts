import { kind } from '../kind.ts';
import { confirmation, resource } from '../present.ts';
import { del, type Json } from '../route.ts';
import { datasource } from './datasource.ts';

interface Suite {
  id: string;
}

const ABOUT = 'id name description datasources createdAt updatedAt permissions { read write delete }';
const links = ({ id }: Suite) => ({ self: `/suites/${id}` });

/** Records call the ids `datasources`, bodies `datasourceIds`: an answer that was edited can be sent back. */
const map = (body: Json): Json => {
  const { datasources, ...rest } = body;
  return datasources === undefined ? body : { datasourceIds: datasources, ...rest };
};

export default [
  ...kind(
    'suites',
    'suite',
    resource<Suite>(ABOUT, links, { embed: { 'svc:datasource': { field: 'sources', as: datasource } } }),
    {
      item: resource<Suite>(ABOUT, links),
      without: ['delete'],
      rows: { create: { status: 200, map }, update: { map } },
      aspects: [],
    },
  ),
  del('/suites/:id', 'deleteSuite', confirmation),
];

import { kind } from '../kind.ts';
import { resource } from '../present.ts';
import { EXAMPLE_ID } from '../route.ts';

interface Report {
  id: string;
}

const FIELDS = `id tenant slug naturalId name description ownerId owner { id name type } folderId tags
  createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id }: Report) => ({ self: `/reports/${id}`, 'svc:permissions': `/reports/${id}/permissions` });

const BLOCKS_EXAMPLE = [{ id: 'countries', type: 'visual', dataset: 'lines', visual: EXAMPLE_ID }];

/** Lists leave out definition and settings, which can have up to 1 MB each. */
export default kind('reports', 'report', resource<Report>(`${FIELDS} definition settings`, links), {
  item: resource<Report>(FIELDS, links),
  rows: {
    create: { example: { name: 'Sales', definition: { blocks: BLOCKS_EXAMPLE } } },
    update: { example: { definition: { blocks: BLOCKS_EXAMPLE } } },
  },
});

import { kind } from '../kind.ts';
import { resource } from '../present.ts';

interface Assistant {
  id: string;
}

const assistant = resource<Assistant>(
  `id tenant slug naturalId name description icon instructions model toolkitIds datasetIds events monthlyBudget
  ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`,
  ({ id }) => ({ self: `/assistants/${id}`, 'svc:permissions': `/assistants/${id}/permissions` }),
);

export default [...kind('assistants', 'assistant', assistant)];

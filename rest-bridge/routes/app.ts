import { resource } from '../present.ts';
import { kind } from '../route.ts';

interface AppBody {
  id: string;
}

const app = resource<AppBody>(
  'id tenant slug naturalId name description env status deployedAt schemaName ownerId owner { id name type } folderId tags createdAt updatedAt permissions { read write edit run share delete assignTags changeOwner }',
  ({ id }) => ({ self: `/apps/${id}`, 'svc:permissions': `/apps/${id}/permissions` }),
);

export default kind('apps', 'app', app);

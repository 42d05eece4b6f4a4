import { collection, resource } from '../present.ts';
import { get, kind, permissions, post } from '../route.ts';

interface FolderBody {
  id: string;
  parentId: string | null;
}

const folder = resource<FolderBody>(
  'id name parentId createdAt updatedAt permissions { read write delete create }',
  ({ id, parentId }) => ({
    self: `/folders/${id}`,
    'svc:permissions': `/folders/${id}/permissions`,
    'svc:parent-folder': parentId === null ? undefined : `/folders/${parentId}`,
  }),
);

export default [
  ...kind('folders', 'folder', folder, { aspects: [permissions] }),
  get('/folders/:id/subfolders', 'folder.subfolders', collection('folder', folder)),
  post('/folders/_bulk-assign', 'bulkAssignFolder'),
  post('/folders/_bulk-update', 'bulkUpdateFolders'),
];

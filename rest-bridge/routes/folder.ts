import { kind, permissions } from '../kind.ts';
import { collection, resource } from '../present.ts';
import { EXAMPLE_ID, get, post } from '../route.ts';

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
  ...kind('folders', 'folder', folder, {
    aspects: [permissions],
    rows: { create: { example: { name: 'Quarterly', parentId: EXAMPLE_ID } }, update: { example: { parentId: null } } },
  }),
  get('/folders/:id/subfolders', 'folder.subfolders', collection('folder', folder)),
  post('/folders/_bulk-assign', 'bulkAssignFolder', undefined, {
    example: { folderId: EXAMPLE_ID, entities: [EXAMPLE_ID] },
  }),
  post('/folders/_bulk-update', 'bulkUpdateFolders', undefined, {
    example: { remove: [], add: [{ id: EXAMPLE_ID, name: 'Quarterly', parentId: null }], update: [] },
  }),
];

import { kind } from '../kind.ts';
import { resource } from '../present.ts';
import { templateParts } from './template-parts.ts';

interface Template {
  id: string;
  editingId: string | null;
}

const FIELDS = `id tenant slug naturalId name description type handler handlerOptions ownerId owner { id name type }
  folderId tags editingId templateFileId letterheadId settings createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id, editingId }: Template) => ({
  self: `/templates/${id}`,
  'svc:permissions': `/templates/${id}/permissions`,
  'svc:original': editingId ? `/templates/${editingId}` : undefined,
  'svc:commit-draft': editingId ? `/templates/${editingId}/draft/_commit` : undefined,
});

/** A template or a draft. */
export const template = resource<Template>(FIELDS, links, { identity: ['editingId'] });

export default [...kind('templates', 'template', template), ...templateParts];

import { kind } from '../kind.ts';
import { resource } from '../present.ts';
import { del, get, post, type Json } from '../route.ts';
import { templateParts } from './template-parts.ts';

interface Template {
  id: string;
  editingId: string | null;
  templateFileId: string | null;
  letterheadId: string | null;
}

const FIELDS = `id tenant slug naturalId name description type handler handlerOptions ownerId owner { id name type }
  folderId tags editingId stale templateFileId letterheadId settings createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id, editingId, templateFileId, letterheadId }: Template) => ({
  self: `/templates/${id}`,
  'svc:permissions': `/templates/${id}/permissions`,
  'svc:template-file': templateFileId ? `/templates/${id}/template-file` : undefined,
  'svc:letterhead': letterheadId ? `/templates/${id}/files/${letterheadId}` : undefined,
  'svc:original': editingId ? `/templates/${editingId}` : undefined,
  'svc:commit-draft': editingId ? `/templates/${editingId}/draft/_commit` : undefined,
});

/** A template or a draft. */
export const template = resource<Template>(FIELDS, links, { identity: ['editingId'] });

const isOriginal = ({ editingId }: Json): boolean => editingId === null;

/** Paths that a draft shares with its template, which the draft does not link. */
const SHARED = /^\/templates\/:id\/(?:owner|shares|tags|favorite)\b/;
const rows = kind('templates', 'template', template, {
  rows: {
    create: {
      example: {
        name: 'Sales report',
        handler: 'pdf',
        settings: { page: { size: 'A4', landscape: true }, footer: '{{ page }} / {{ pages }}', locale: 'de-DE' },
      },
    },
    update: { example: { handler: 'html', letterheadId: null } },
  },
}).map((row) => (SHARED.test(row.path) ? { ...row, options: { ...row.options, linked: isOriginal } } : row));

const draft = '/templates/:id/draft';

export default [
  ...rows,
  post('/templates/:id/_edit', 'editTemplate', template, { linked: isOriginal }),
  get(draft, 'template.draft', template, { linked: isOriginal }),
  post(`${draft}/_commit`, 'commitTemplateDraft', template),
  del(draft, 'deleteTemplateDraft', undefined, { linked: isOriginal }),
  ...templateParts,
];

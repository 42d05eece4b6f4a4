import { notFound } from '../../src/core/errors.ts';
import { attachedContents } from '../file-contents.ts';
import { kind } from '../kind.ts';
import { collection, resource, value, type Presenter } from '../present.ts';
import { EXAMPLE_ID, get, put, type Json } from '../route.ts';
import { fieldsOf } from '../selection.ts';
import { integration } from './integration.ts';

const library = resource<{ id: string; integrationId: string | null }>(
  `id tenant slug naturalId name description type integrationId connectionStatus settings fileCount bytes lastSyncAt
  lastSync ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit sync share assignTags delete changeOwner }`,
  ({ id, integrationId }) => ({
    self: `/libraries/${id}`,
    'svc:permissions': `/libraries/${id}/permissions`,
    'svc:integration': integrationId ? `/libraries/${id}/integration` : undefined,
  }),
);

/** Presents the integration of a library, with the id of this library. */
const ownIntegration: Presenter = {
  on(type, field) {
    const inner = integration.on(fieldsOf(type)['integration']!.type, field, true);
    return {
      selection: `id integration { ${inner.selection} }`,
      keys: inner.keys,
      identity: [],
      single: false,
      unwraps: { field: 'integration', inner },
      present(result, request) {
        const { id, integration: used } = result as { id: string; integration: Json | null };
        if (!used) throw notFound({ what: 'integration of the library', id });
        return { ...(inner.present(used, request) as Json), libraryId: id };
      },
    };
  },
};

interface LibraryFile {
  id: string;
  libraryId: string;
}

const libraryFile = resource<LibraryFile>(
  'id libraryId fileId name path contentType size hash sha256 status reason url modifiedAt syncedAt createdAt updatedAt',
  ({ id, libraryId }) => ({
    self: `/libraries/${libraryId}/files/${id}`,
    'svc:library': `/libraries/${libraryId}`,
    'svc:file-contents': `/libraries/${libraryId}/files/${id}/contents`,
  }),
);

const file = '/libraries/:libraryId/files/:id';

export default [
  ...kind('libraries', 'library', library, {
    rows: {
      create: { example: { name: 'Contracts', integrationId: EXAMPLE_ID, settings: { extensions: ['pdf', 'docx'] } } },
      update: { example: { settings: { rootId: '1dyUEebJaFnWa3Z4n0BFMVAXQ7mfUH11g', maxFileBytes: 20_000_000 } } },
    },
  }),
  get('/libraries/:id/integration', 'library', ownIntegration),
  put('/libraries/:id/integration', 'setLibraryIntegration', ownIntegration, {
    example: { integrationId: EXAMPLE_ID },
  }),
  get('/libraries/:id/files', 'library.files', collection('library-file', libraryFile)),
  get(file, 'library.file', libraryFile),
  get(`${file}/contents`, 'library.file', value('filename: name contentType sha256'), {
    handler: attachedContents,
    produces: '*/*',
  }),
];

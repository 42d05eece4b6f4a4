import { kind } from '../kind.ts';
import { resource } from '../present.ts';

interface Integration {
  id: string;
  libraryId: string | null;
}

const FIELDS = `id name type embedded libraryId creatorId authType clientId authUri tokenUri revokeUri apiUri contentUri
  scope createdAt updatedAt permissions { read edit delete }`;

/** An integration of the tenant or of one library. */
export const integration = resource<Integration>(FIELDS, ({ id }) => ({ self: `/integrations/${id}` }), {
  identity: ['embedded', 'authType'],
});

export default kind('integrations', 'integration', integration, {
  aspects: [],
  rows: {
    create: {
      example: {
        name: 'Google Drive',
        type: 'google-drive',
        clientId: 'data-workspace.apps.googleusercontent.com',
        clientSecret: 'secret',
      },
    },
    update: { example: { clientSecret: 'another secret' } },
  },
});

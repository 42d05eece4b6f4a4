const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';
const OWNER = { ownerId: `team:${ID}` };

/** Examples of the bodies of operations on libraries and integrations, by operation id. */
export const LIBRARY_BODIES: Record<string, unknown> = {
  createLibrary: { name: 'Contracts', integrationId: ID, settings: { extensions: ['pdf', 'docx'] } },
  updateLibrary: { settings: { rootId: '1dyUEebJaFnWa3Z4n0BFMVAXQ7mfUH11g', maxFileBytes: 20_000_000 } },
  setLibraryOwner: OWNER,
  shareLibrary: { accessLevel: 1 },
  syncLibrary: { full: true },
  setLibraryIntegration: { integrationId: ID },
  createIntegration: {
    name: 'Google Drive',
    type: 'google-drive',
    clientId: 'data-workspace.apps.googleusercontent.com',
    clientSecret: 'secret',
  },
  updateIntegration: { clientSecret: 'another secret' },
};

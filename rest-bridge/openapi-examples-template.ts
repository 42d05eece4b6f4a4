const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Examples of the request bodies of templates, by operation id. */
export const TEMPLATE_BODIES: Record<string, unknown> = {
  createTemplate: {
    name: 'Sales report',
    handler: 'pdf',
    settings: { page: { size: 'A4', landscape: true }, footer: '{{ page }} / {{ pages }}', locale: 'de-DE' },
  },
  updateTemplate: { handler: 'html', letterheadId: null },
  setTemplateOwner: { ownerId: `team:${ID}` },
  shareTemplate: { accessLevel: 1 },
  createTemplateFile: { filename: 'report.njk', role: 'TEMPLATE' },
  uploadTemplateFile: { file: 'the bytes of a picture', role: 'ASSET', filename: 'brand/logo.png' },
  updateTemplateFile: { filename: 'brand/logo-2026.png' },
  setTemplateFileContents: { file: '<h1>{{ template.name }}</h1>' },
  setTemplateFile: { templateFileId: ID },
};

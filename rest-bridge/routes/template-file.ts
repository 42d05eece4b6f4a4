import { fileContents } from '../file-contents.ts';
import { collection, confirmation, resource, value } from '../present.ts';
import { create, del, EXAMPLE_ID, get, put } from '../route.ts';
import { template } from './template.ts';

interface File {
  id: string;
  templateId: string;
}

const templateFile = resource<File>(
  'id templateId filename role contentType size sha256 embedded contentsUrl createdAt updatedAt',
  ({ id, templateId }) => ({
    self: `/templates/${templateId}/files/${id}`,
    'svc:template': `/templates/${templateId}`,
    'svc:file-contents': `/templates/${templateId}/files/${id}/contents`,
  }),
  { identity: ['templateId', 'role'] },
);

const files = '/templates/:templateId/files';
const single = `${files}/:id`;

export default [
  get('/templates/:id/files', 'template.files', collection('template-file', templateFile)),
  create(files, 'createTemplateFile', templateFile, { example: { filename: 'report.njk', role: 'TEMPLATE' } }),
  create(`${files}/_upload`, 'uploadTemplateFile', templateFile, {
    consumes: 'multipart',
    example: { file: 'the bytes of a picture', role: 'ASSET', filename: 'brand/logo.png' },
  }),
  get(single, 'template.file', templateFile),
  put(single, 'updateTemplateFile', templateFile, { example: { filename: 'brand/logo-2026.png' } }),
  del(single, 'deleteTemplateFile'),
  get(`${single}/contents`, 'template.file', value('filename contentType sha256'), {
    handler: fileContents,
    produces: '*/*',
  }),
  put(`${single}/contents`, 'setTemplateFileContents', confirmation, {
    consumes: 'file',
    example: { file: '<h1>{{ template.name }}</h1>' },
  }),
  get('/templates/:id/template-file', 'template.templateFile', templateFile),
  put('/templates/:templateId/template-file', 'setTemplateFile', template, { example: { templateFileId: EXAMPLE_ID } }),
];

import { fileContents } from '../file-contents.ts';
import { operation } from '../operation.ts';
import { collection, resource, value } from '../present.ts';
import { renderedDocument } from '../rendered-document.ts';
import { get, post } from '../route.ts';

interface Rendition {
  id: string;
  templateId: string;
}

const rendition = resource<Rendition>(
  'id templateId handler filename contentType size pages createdAt expiresAt contentsUrl',
  ({ id, templateId }) => ({
    self: `/templates/${templateId}/renditions/${id}`,
    'svc:template': `/templates/${templateId}`,
    'svc:file-contents': `/templates/${templateId}/renditions/${id}/contents`,
  }),
);
/** The fields that the response headers of the contents require. */
const contents = value('id templateId filename contentType sha256');

const driver = value('id name description extensions handlers { id name contentType optionsSchema }');

const single = '/templates/:id/renditions/:renditionId';

/** Renderings of templates: engines, checks, documents. */
export default [
  get('/template-drivers', 'templateDrivers', collection('template-driver', driver)),
  post('/templates/:templateId/_check', 'checkTemplate', value('ok problems { path message code line column }'), {
    id: 'checkTemplate',
    summary: 'Finds the mistakes in the files of a template',
  }),
  post('/templates/:templateId/_render', 'renderTemplate', operation(contents), {
    handler: renderedDocument,
    produces: '*/*',
    example: { params: { country: 'DE' }, handler: 'pdf', filename: 'Sales in Germany', progress: 'sales report' },
  }),
  get('/templates/:id/renditions', 'template.renditions', collection('rendition', rendition)),
  get(single, 'template.rendition', rendition),
  get(`${single}/contents`, 'template.rendition', contents, { handler: fileContents, produces: '*/*' }),
];

import { collection, resource, value } from '../present.ts';
import { get, put } from '../route.ts';

interface Part {
  templateId: string;
}

const links = ({ templateId }: Part) => ({ 'svc:template': `/templates/${templateId}` });

const input = resource<Part>('id name label description required defaultValue schema', links);
const processor = resource<Part>('id name type config', links);
const inputs = collection('template-input', input);
const processors = collection('template-processor', processor);

const PAGE = { query: ['limit', 'start'] };

/** Inputs, processors and settings of a template. */
export const templateParts = [
  get('/templates/:id/inputs', 'template.inputs', inputs),
  put('/templates/:templateId/inputs', 'setTemplateInputs', inputs, PAGE),
  get('/templates/:id/processors', 'template.processors', processors),
  put('/templates/:templateId/processors', 'setTemplateProcessors', processors, PAGE),
  get('/templates/:id/settings', 'template.settings', value()),
  put('/templates/:templateId/settings', 'setTemplateSettings', value(), { body: 'settings' }),
];

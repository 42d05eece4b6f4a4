import { collection, resource, value } from '../present.ts';
import { EXAMPLE_ID, get, put, type Json } from '../route.ts';

interface Part {
  templateId: string;
}

const links = ({ templateId }: Part) => ({ 'svc:template': `/templates/${templateId}` });

const input = resource<Part>('id name label description required defaultValue schema', links);
const processor = resource<Part>('id name type config', links);
const inputs = collection('template-input', input);
const processors = collection('template-processor', processor);

/** Returns options of a row that replaces a list. Clients may send the items of a response, with their links. */
const replaces = (list: string) => ({
  query: ['limit', 'start'],
  map: (body: Json): Json => (Array.isArray(body[list]) ? { ...body, [list]: body[list].map(withoutLinks) } : body),
});

function withoutLinks(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const { _links, ...rest } = item as Json;
  return rest;
}

/** Inputs, processors and settings of a template. */
export const templateParts = [
  get('/templates/:id/inputs', 'template.inputs', inputs),
  put('/templates/:templateId/inputs', 'setTemplateInputs', inputs, {
    ...replaces('inputs'),
    example: {
      inputs: [
        { name: 'country', label: 'Country', required: true, schema: { type: 'string', enum: ['DE', 'FR'] } },
        { name: 'since', defaultValue: '2026-01-01', schema: { type: 'string', format: 'date' } },
      ],
    },
  }),
  get('/templates/:id/processors', 'template.processors', processors),
  put('/templates/:templateId/processors', 'setTemplateProcessors', processors, {
    ...replaces('processors'),
    example: {
      processors: [
        {
          name: 'orders',
          type: 'dataset',
          config: { datasetId: EXAMPLE_ID, filter: { country: { $input: 'country' } } },
        },
      ],
    },
  }),
  // Not `getTemplateSettings`: generators name the type of the field `settings` of a template `TemplateSettings` too.
  get('/templates/:id/settings', 'template.settings', value(), { id: 'getSettingsOfTemplate' }),
  put('/templates/:templateId/settings', 'setTemplateSettings', value(), {
    body: 'settings',
    example: { page: { size: 'A4', landscape: true }, locale: 'de-DE', timezone: 'Europe/Berlin' },
  }),
];

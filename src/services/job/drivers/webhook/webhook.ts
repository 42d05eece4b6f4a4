import { invalid } from '../../../../core/input-checks.ts';
import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { actionSchema } from '../action-schema.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export const webhookAction: JobActionDriver = {
  id: 'webhook',
  name: 'Webhook',
  description: 'Calls a URL. With a `secret`, the header `X-DWS-Signature` signs the call.',
  secrets: ['secret', 'headers.*'],
  secretsFor: 'url',
  schema: actionSchema(
    {
      url: { type: 'string', maxLength: 2000, description: 'Absolute URL with `http` or `https`.' },
      method: { enum: ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], description: 'HTTP method. Default: POST.' },
      headers: {
        type: 'object',
        maxProperties: 50,
        additionalProperties: { type: 'string', maxLength: 8000, pattern: '^[^\\r\\n\\u0000]*$' },
        description: 'Headers. Their values are secrets.',
      },
      body: { description: 'Body: a text as it is, any other value as JSON.' },
      secret: { type: 'string', minLength: 1, maxLength: 1000, description: 'Key of the signature. A secret.' },
    },
    ['url'],
  ),
  prepare(data) {
    const { url, headers = {} } = data as { url: string; headers?: Record<string, string> };
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw invalid('data.url', 'must be an absolute URL with http or https');
    // A password in the URL would not be a secret.
    if (new URL(url).username || new URL(url).password) throw invalid('data.url', 'must not contain credentials');
    const name = Object.keys(headers).find((header) => !HEADER_NAME.test(header));
    if (name !== undefined) throw invalid('data.headers', `has the invalid name ${JSON.stringify(name)}`);
    return data;
  },
};

import { collection, resource, value } from '../present.ts';
import { get, post } from '../route.ts';

interface AiCall {
  userId: string;
  providerId: string;
  entityType: string;
  entityId: string;
}

const call = resource<AiCall>(
  `id createdAt actor userId action entityType entityId providerId providerName ownProvider model size inputTokens
  outputTokens duration status error { statusCode code message } credits prompt`,
  ({ userId, providerId, entityType, entityId }, _, pathOfKind) => ({
    'svc:user': `/users/${userId}`,
    'svc:ai-provider': `/ai-providers/${providerId}`,
    'svc:resource': pathOfKind({ kind: entityType, id: entityId }),
  }),
);

/** The audit of AI calls, and quotes for new ones. */
export default [
  get('/ai/audit', 'aiCalls', collection('ai-call', call), {
    summary: 'Lists the calls of AI providers',
    parameterExamples: { action: 'image' },
  }),
  post('/usage/quote', 'usageQuote', value('credits remaining allowed reason'), {
    id: 'quoteUsage',
    summary: 'Returns the price of an action',
    example: { action: 'image', size: '1024x1024' },
  }),
];

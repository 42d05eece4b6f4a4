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
  get('/ai/audit', 'aiCalls', collection('ai-call', call)),
  post('/usage/quote', 'usageQuote', value('credits remaining allowed reason')),
];

import { kind, permissions } from '../kind.ts';
import { operation } from '../operation.ts';
import { collection, resource } from '../present.ts';
import { EXAMPLE_ID, get, post, type Json } from '../route.ts';

const agent = resource<{ id: string; assistantId: string; usageProfileId: string | null }>(
  `id name assistantId ownerId owner { id username } events { appId name }
  eventApps { appId owner { id name type } suspended } instructions usageProfileId enabled accepted monthlyBudget
  createdAt updatedAt permissions { read write edit run delete }`,
  ({ id, assistantId }) => ({
    self: `/agents/${id}`,
    'svc:permissions': `/agents/${id}/permissions`,
    'svc:assistant': `/assistants/${assistantId}`,
    'svc:agent-runs': `/agents/${id}/runs`,
  }),
  { identity: ['assistantId', 'ownerId'] },
);

const agentRun = resource<{ id: string; agentId: string; eventAppId: string | null; userId: string | null }>(
  `id agentId trigger status eventName eventAppId depth payload startedAt finishedAt duration
  steps {
    startedAt duration model inputTokens outputTokens credits text error
    toolCalls { name arguments result duration error }
  }
  notes output credits error userId createdAt updatedAt`,
  ({ id, agentId, eventAppId, userId }) => ({
    self: `/agents/${agentId}/runs/${id}`,
    'svc:agent': `/agents/${agentId}`,
    'svc:event-app': eventAppId ? `/apps/${eventAppId}` : undefined,
    'svc:user': userId ? `/users/${userId}` : undefined,
  }),
);

const isUnfinished = ({ finishedAt }: Json) => finishedAt === null;
const single = '/agents/:agentId/runs/:runId';

export default [
  ...kind('agents', 'agent', agent, {
    aspects: [permissions],
    rows: {
      create: {
        example: {
          name: 'Order clerk',
          assistantId: EXAMPLE_ID,
          events: [{ appId: EXAMPLE_ID, name: 'order.received' }],
          instructions: 'Check whether the order is unusual.',
        },
      },
      update: { example: { instructions: 'Be brief.', enabled: false } },
    },
  }),
  get('/assistants/:id/agents', 'assistant.agents', collection('agent', agent)),
  post('/agents/:id/_run', 'runAgent', operation(agentRun), { example: { payload: { order: 7 } } }),
  get('/agents/:id/runs', 'agent.runs', collection('agent-run', agentRun)),
  get(single, 'agent.run', agentRun),
  post(`${single}/_cancel`, 'cancelAgentRun', agentRun, { linked: isUnfinished }),
];

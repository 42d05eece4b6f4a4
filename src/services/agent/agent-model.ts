import { AgentRun } from '../../../entities/agent-run.ts';
import { Agent } from '../../../entities/agent.ts';
import { App } from '../../../entities/app.ts';
import { Assistant } from '../../../entities/assistant.ts';
import { Operation } from '../../../entities/operation.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { User } from '../../../entities/user.ts';
import { DEFAULT_LIMIT } from '../../core/read/list-arguments.ts';
import { belongsTo, defineModel, equalsFilter, hasMany } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';
import { BOUND_APPS_OF_AGENT } from './event-bindings.ts';

const throughAssistant = throughParent(Assistant, 'assistant_id');

export const agentModel = defineModel(Agent, {
  accessFilter: throughAssistant,
  searchedFields: ['name'],
  sortable: ['name', 'createdAt', 'updatedAt'],
  defaultSort: 'name',
  filters: { assistantId: equalsFilter(Agent, 'assistantId') },
  computed: { boundApps: BOUND_APPS_OF_AGENT },
  relations: {
    assistant: belongsTo(Assistant, 'assistant_id'),
    owner: belongsTo(User, 'owner_id'),
    usageProfile: belongsTo(UsageProfile, 'usage_profile_id'),
    runs: hasMany(AgentRun, 'agent_id', '-createdAt', DEFAULT_LIMIT),
  },
});

export const agentRunModel = defineModel(AgentRun, {
  label: 'run of the agent',
  nodeAccess: throughParent(Agent, 'agent_id'),
  searchedFields: [],
  defaultSort: '-createdAt',
  relations: {
    agent: belongsTo(Agent, 'agent_id'),
    user: belongsTo(User, 'user_id'),
    eventApp: belongsTo(App, 'event_app_id'),
    operation: belongsTo(Operation, 'operation_id'),
  },
});

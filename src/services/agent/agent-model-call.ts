import type { AgentStep } from '../../../entities/agent-run.ts';
import type { ChatMessage, ChatRequest, ChatResponse, ChatTool } from '../../core/ai.ts';
import type { Context } from '../../core/context.ts';
import { newId } from '../../core/id.ts';
import type { Usage } from '../../core/usage.ts';
import { chatPrice, estimateChat, lowerPrice, type AiPrice } from '../ai/ai-price.ts';
import { chooseModel, type ChosenModel } from '../ai/choose-model.ts';
import { recordAiCall, sealPrompt, type AiCallRecord } from '../ai/record-ai-call.ts';
import { failureOf } from '../operation/operation-repository.ts';
import { releaseCredits, reserveCredits, settleCredits } from '../usage/credit-reservation.ts';
import type { RunningAgent } from './agent-context.ts';
import { addCredits, RUN_CREDITS, type RunPrice } from './agent-credits.ts';
import { saveSteps, type BegunRun } from './agent-run-state.ts';
import { excerpt } from './tools/tool-result.ts';

/** Maximum number of tokens of one response. */
const MAX_TOKENS = 4096;

/** Returns the chat model of an agent: that of its assistant, else the first one. The context is that of the owner. */
export const chooseAgentModel = (ctx: Context, { assistant }: RunningAgent): Promise<ChosenModel> =>
  chooseModel(ctx, { kind: 'chat', model: assistant.model, isStored: true, userId: ctx.viewer.userId });

/** Returns the request of one call. */
export const requestOf = (
  { model }: ChosenModel,
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
): ChatRequest => ({ model: model.id, messages, tools, maxTokens: MAX_TOKENS });

/** Returns what a run reserves for itself and its first call; null for a provider of the owner. */
export const startPrice = ({ provider, model }: ChosenModel, request: ChatRequest): RunPrice =>
  provider.isOwn ? null : { credits: addCredits(RUN_CREDITS, estimateChat(model, request).credits), tier: model.tier };

/** What a step is called with. */
interface StepInput {
  messages: readonly ChatMessage[];
  tools: readonly ChatTool[];
  /** The steps so far. */
  steps: AgentStep[];
  /** Number of messages that the calls before have sent. The audit has each message once. */
  sent: number;
}

/** One call of the model in a run. */
interface ModelCall {
  run: BegunRun;
  record: Omit<AiCallRecord, 'duration'>;
  /** Id of the reservation: of the run, for its first call, else of the call. */
  reservationId: string;
  isFirst: boolean;
  estimate: AiPrice;
  startedAt: Date;
}

/**
 * Calls the model for the next step of a run and adds the step to `steps`. Its credits are reserved before and charged with
 * the step, and with the first step those of the run. Throws what ended the call, which then costs nothing, and CANCELLED if
 * the run has ended meanwhile.
 */
export async function callModel(
  ctx: Context,
  run: BegunRun,
  chosen: ChosenModel,
  input: StepInput,
): Promise<ChatResponse> {
  const request = requestOf(chosen, input.messages, input.tools);
  const call = createCall(ctx, run, chosen, request, input);
  await reserve(ctx, call, chosen, request);
  try {
    const response = await ctx.platform.ai.chat(chosen.endpoint, request, ctx.request.signal);
    await recordSuccess(ctx, call, chosen, input.steps, response);
    return response;
  } catch (error) {
    await recordFailure(ctx, call, input.steps, error).catch((failure: unknown) =>
      ctx.platform.log.warn({ err: failure, run: run.id }, 'Could not record a failed call of a model'),
    );
    throw error;
  }
}

function createCall(
  { viewer, platform }: Context,
  run: BegunRun,
  { provider, model }: ChosenModel,
  request: ChatRequest,
  { messages, steps, sent }: StepInput,
): ModelCall {
  const id = newId();
  const isFirst = steps.length === 0;
  const record = {
    id,
    actor: `agent:${run.agentId}` as const,
    userId: viewer.userId,
    action: 'chat' as const,
    entity: { type: 'agent' as const, id: run.agentId },
    provider,
    model: model.id,
    size: null,
    sealedPrompt: sealPrompt(platform, JSON.stringify(messages.slice(sent))),
  };
  const estimate = estimateChat(model, request);
  return { run, record, reservationId: isFirst ? run.id : id, isFirst, estimate, startedAt: new Date() };
}

async function reserve(
  { platform }: Context,
  { run, record, reservationId, isFirst, estimate }: ModelCall,
  chosen: ChosenModel,
  request: ChatRequest,
): Promise<void> {
  if (chosen.provider.isOwn) return;
  const price = isFirst ? startPrice(chosen, request)! : { credits: estimate.credits, tier: chosen.model.tier };
  await platform.database.transaction(run.tenantId, (tx) =>
    reserveCredits(tx, run, { id: reservationId, actor: record.actor, ...price }),
  );
}

async function recordSuccess(
  { platform }: Context,
  call: ModelCall,
  { provider, model }: ChosenModel,
  steps: AgentStep[],
  response: ChatResponse,
): Promise<void> {
  const { run, isFirst } = call;
  const { inputTokens, outputTokens } = response;
  const price = lowerPrice(chatPrice(model, response), call.estimate);
  const metersRun = isFirst && !provider.isOwn;
  const credits = provider.isOwn ? '0' : addCredits(price.credits, metersRun ? RUN_CREDITS : '0');
  const step = stepOf(call, { ...response, credits: provider.isOwn ? null : Number(price.credits), error: null });
  await platform.database.transaction(run.tenantId, async (tx) => {
    await saveSteps(tx, run, [...steps, step], credits);
    settleCredits(tx, run, call.reservationId);
    const record = { ...call.record, duration: step.duration };
    const outcome = { status: 'succeeded' as const, price, inputTokens, outputTokens };
    recordAiCall(tx, run, record, outcome, metersRun ? [usageOf(call)] : []);
  });
  steps.push(step);
}

/** Returns the usage of a run itself. */
const usageOf = ({ run, record: { actor, entity } }: ModelCall): Usage => ({
  key: `agent:${run.id}`,
  resource: 'agent_run',
  quantity: '1',
  actor,
  entityType: entity.type,
  entityId: entity.id,
  metadata: { trigger: run.eventName === null ? 'manual' : 'event', depth: run.depth },
});

/** How a call of the model ended, for the record of its step. */
interface StepOutcome extends Pick<AgentStep, 'inputTokens' | 'outputTokens' | 'credits' | 'error'> {
  content: string | null;
}

const stepOf = (
  { record, startedAt }: ModelCall,
  { content, inputTokens, outputTokens, credits, error }: StepOutcome,
): AgentStep => ({
  startedAt: startedAt.toISOString(),
  duration: Date.now() - startedAt.getTime(),
  model: record.model,
  inputTokens,
  outputTokens,
  credits,
  text: content === null ? null : excerpt(content),
  error,
  toolCalls: [],
});

/**
 * Releases what is reserved for a call that failed or was cancelled, also one that succeeded after its run had ended, and
 * records it.
 */
async function recordFailure(
  { platform }: Context,
  call: ModelCall,
  steps: readonly AgentStep[],
  error: unknown,
): Promise<void> {
  const { run } = call;
  const failure = failureOf(error);
  const nothing = { content: null, inputTokens: null, outputTokens: null, credits: null };
  const step = stepOf(call, { ...nothing, error: failure.message });
  await platform.database.transaction(run.tenantId, async (tx) => {
    releaseCredits(tx, run, call.reservationId);
    const status = failure.code === 'CANCELLED' ? 'cancelled' : 'failed';
    recordAiCall(tx, run, { ...call.record, duration: step.duration }, { status, error: failure });
  });
  // Apart, as there is nothing to save it in if the run has ended or was deleted.
  await platform.database.transaction(run.tenantId, (tx) => saveSteps(tx, run, [...steps, step]));
}

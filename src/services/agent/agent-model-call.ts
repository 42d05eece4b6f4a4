import type { AgentStep } from '../../../entities/agent-run.ts';
import { newCallTrace, type ChatMessage, type ChatRequest, type ChatResponse, type ChatTool } from '../../core/ai.ts';
import type { Context } from '../../core/context.ts';
import { addCredits } from '../../core/credits.ts';
import { retryWhileUnavailable } from '../../core/database-unavailable.ts';
import { cancelled } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { OperationFailure } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Usage } from '../../core/usage.ts';
import { chatPrice, estimateChat } from '../ai/ai-price.ts';
import { chooseModel, type ChosenModel } from '../ai/choose-model.ts';
import { recordAiCall, sealPrompt } from '../ai/record-ai-call.ts';
import { endCall, sendCall, type SentCall, type SentCallEnd } from '../ai/sent-call.ts';
import { failureOf } from '../operation/operation-repository.ts';
import { reserveCredits } from '../usage/credit-reservation.ts';
import type { RunningAgent } from './agent-context.ts';
import { RUN_CREDITS, type RunPrice } from './agent-credits.ts';
import { saveProgress, type BegunRun } from './agent-run-state.ts';
import { excerpt } from './tools/tool-result.ts';

/** Maximum number of tokens of one response. */
const MAX_TOKENS = 4096;

/**
 * Returns the chat model of an agent: the model of its assistant, else the first one. The context acts as the owner.
 */
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

/** Input of a step. */
interface StepInput {
  messages: readonly ChatMessage[];
  tools: readonly ChatTool[];
  /** The steps so far. */
  steps: AgentStep[];
  /** The notes so far. */
  notes: string[];
  /** Number of messages that the calls before have sent. The audit has each message once. */
  sent: number;
}

/** One call of the model in a run. */
interface ModelCall {
  run: BegunRun;
  chosen: ChosenModel;
  sent: SentCall;
  /** Id of the reservation: of the run, for its first call, else of the call. */
  reservationId: string;
  startedAt: Date;
}

const ESTIMATED = 'The provider of the model states no tokens: they are estimated';

/** Additions of a call to the record of its run. */
interface Recorded {
  content: string | null;
  notes: readonly string[];
}

/**
 * Calls the model for the next step of a run. Adds the step to `steps`, and whatever its response lacks to `notes`. Its
 * credits are reserved before the call, together with the credits of the run in the first step. Once the call is sent
 * it is charged, however it ends. Throws the error that ended the call, and CANCELLED if the run has ended during the
 * call.
 */
export async function callModel(
  ctx: Context,
  run: BegunRun,
  chosen: ChosenModel,
  input: StepInput,
): Promise<ChatResponse> {
  const request = requestOf(chosen, input.messages, input.tools);
  const call = createCall(ctx, run, chosen, request, input);
  const trace = newCallTrace();
  const endOf = (error: OperationFailure | null): SentCallEnd => ({
    ...trace,
    status: error === null ? 'succeeded' : error.code === 'CANCELLED' ? 'cancelled' : 'failed',
    error,
    stated: trace.tokens && chatPrice(chosen.model, trace.tokens),
  });
  try {
    const beforeSend = () => send(ctx, call, request);
    const response = await ctx.platform.ai.chat(chosen.endpoint, request, ctx.request.signal, trace, beforeSend);
    const recorded = { content: response.content, notes: notesOf(response, input) };
    if (!(await record(ctx, call, input, endOf(null), recorded))) throw cancelled();
    return response;
  } catch (error) {
    // Does nothing if the call was recorded before the error. The janitor charges what cannot be recorded here.
    await record(ctx, call, input, endOf(failureOf(error)), { content: null, notes: [] }).catch((failure: unknown) =>
      ctx.platform.log.warn({ err: failure, run: run.id }, 'Could not record a failed call of a model'),
    );
    throw error;
  }
}

/** Returns the new notes about a response. */
const notesOf = ({ problems, isEstimated }: ChatResponse, { steps, notes }: StepInput): string[] => [
  ...problems.map((problem) => `Step ${steps.length + 1}: the response is not complete: ${problem}`),
  ...(isEstimated && !notes.includes(ESTIMATED) ? [ESTIMATED] : []),
];

function createCall(
  { viewer, platform }: Context,
  run: BegunRun,
  chosen: ChosenModel,
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
    provider: chosen.provider,
    model: chosen.model.id,
    size: null,
    sealedPrompt: sealPrompt(platform, JSON.stringify(messages.slice(sent))),
  };
  const price = estimateChat(chosen.model, request);
  const furtherUsage = isFirst ? [usageOf(run, record)] : [];
  return {
    run,
    chosen,
    sent: { record, price, furtherUsage, agentRunId: run.id },
    reservationId: isFirst ? run.id : id,
    startedAt: new Date(),
  };
}

/** Returns the usage of a run itself, which is charged with its first call. */
const usageOf = (run: BegunRun, { actor, userId, entity }: Omit<SentCall['record'], 'sealedPrompt'>): Usage => ({
  key: `agent:${run.id}`,
  resource: 'agent_run',
  quantity: '1',
  actor,
  payer: userId,
  entityType: entity.type,
  entityId: entity.id,
  metadata: { trigger: run.eventName === null ? 'manual' : 'event', depth: run.depth },
});

/** Reserves the credits of a call and marks it as sent. */
async function send(
  { platform }: Context,
  { run, chosen, sent, reservationId }: ModelCall,
  request: ChatRequest,
): Promise<void> {
  const { provider, model } = chosen;
  const { actor, userId: payer } = sent.record;
  const price = reservationId === run.id ? startPrice(chosen, request) : { ...sent.price, tier: model.tier };
  await platform.database.transaction(run.tenantId, async (tx) => {
    if (!provider.isOwn && price)
      await reserveCredits(tx, run, { id: reservationId, actor, payer, credits: price.credits, tier: price.tier });
    sendCall(tx, run, { reservationId, workId: run.workId }, sent);
  });
}

/**
 * Ends a call, and saves and adds its step and notes. Returns false if the run has ended, so that the step cannot be
 * saved: the call is still charged. Does nothing if the call was ended before.
 */
async function record(
  { platform, request: { signal } }: Context,
  call: ModelCall,
  { steps, notes }: StepInput,
  end: SentCallEnd,
  recorded: Recorded,
): Promise<boolean> {
  const { run, reservationId, sent, startedAt } = call;
  const write = async (tx: Transaction) => {
    let credits = await endCall(tx, run, reservationId, end);
    if (credits === undefined && end.state === 'unsent') {
      const duration = Date.now() - startedAt.getTime();
      credits = null;
      recordAiCall(tx, run, { ...sent.record, duration }, { ...end, price: null });
    }
    if (credits === undefined) return null;
    const ended = stepOf(call, end, { content: recorded.content, credits });
    const progress = { steps: [...steps, ended], notes: [...notes, ...recorded.notes] };
    return (await saveProgress(tx, run, progress)) ? ended : null;
  };
  const step = await retryWhileUnavailable(
    () => platform.database.transaction(run.tenantId, write),
    () => signal.aborted,
  );
  if (!step) return false;
  steps.push(step);
  notes.push(...recorded.notes);
  return true;
}

const stepOf = (
  { sent: { record }, startedAt }: ModelCall,
  { error, tokens }: SentCallEnd,
  { content, credits }: { content: string | null; credits: string | null },
): AgentStep => ({
  startedAt: startedAt.toISOString(),
  duration: Date.now() - startedAt.getTime(),
  model: record.model,
  inputTokens: tokens?.inputTokens ?? null,
  outputTokens: tokens?.outputTokens ?? null,
  credits: credits === null ? null : Number(credits),
  text: content === null ? null : excerpt(content),
  error: error?.message ?? null,
  toolCalls: [],
});

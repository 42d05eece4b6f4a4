import type { AgentStep } from '../../../entities/agent-run.ts';
import type { ChatMessage, ChatRequest, ChatResponse, ChatTool } from '../../core/ai.ts';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { releaseCredits, reserveCredits, settleCredits } from '../usage/credit-reservation.ts';
import { addCredits, RUN_CREDITS, type RunPrice } from './agent-credits.ts';
import type { RunningAgent } from './agent-plan.ts';
import { saveSteps, type BegunRun } from './agent-run-state.ts';
import { chatCredits, chooseModel, estimateChat, recordAiCall, type ChosenModel } from './ai-provisional.ts';
import { excerpt } from './tools/tool-result.ts';

export type { ChosenModel };

/** Maximum number of tokens of one response. */
const MAX_TOKENS = 4096;

/** Returns the chat model of an agent: that of its assistant, else the first one. The context is that of the owner. */
export const chooseAgentModel = (ctx: Context, { assistant }: RunningAgent): Promise<ChosenModel> =>
  chooseModel(ctx, { kind: 'chat', model: assistant.model, userId: ctx.viewer.userId });

/** Returns the request of one call. */
export const requestOf = (
  { model }: ChosenModel,
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
): ChatRequest => ({ model: model.id, messages, tools, maxTokens: MAX_TOKENS });

/** Returns what a run reserves for itself and its first call. */
export const startPrice = (chosen: ChosenModel, request: ChatRequest): RunPrice => {
  const price = callPrice(chosen, request);
  return price && { ...price, credits: addCredits(RUN_CREDITS, price.credits) };
};

const callPrice = ({ provider, model }: ChosenModel, request: ChatRequest): RunPrice =>
  provider.isOwn ? null : { credits: estimateChat(model, request), tier: model.tier };

/** One call of the model in a run. */
interface ModelCall {
  /** Of the audit row, and of the reservation but for the first call, which has that of the run. */
  id: string;
  reservationId: string;
  isFirst: boolean;
  request: ChatRequest;
  price: RunPrice;
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
  { messages, tools, steps }: { messages: readonly ChatMessage[]; tools: readonly ChatTool[]; steps: AgentStep[] },
): Promise<ChatResponse> {
  const isFirst = steps.length === 0;
  const id = newId();
  const request = requestOf(chosen, messages, tools);
  const price = (isFirst ? startPrice : callPrice)(chosen, request);
  const call: ModelCall = { id, reservationId: isFirst ? run.id : id, isFirst, request, price, startedAt: new Date() };
  await reserve(ctx, run, call);
  let response: ChatResponse;
  try {
    response = await ctx.platform.ai.chat(chosen.endpoint, request, ctx.request.signal);
  } catch (error) {
    await recordFailure(ctx, run, chosen, call, steps, error).catch((failure: unknown) =>
      ctx.platform.log.warn({ err: failure, run: run.id }, 'Could not record a failed call of a model'),
    );
    throw error;
  }
  await recordSuccess(ctx, run, chosen, call, steps, response);
  return response;
}

async function reserve({ platform }: Context, run: BegunRun, { reservationId, price }: ModelCall): Promise<void> {
  if (!price) return;
  const request = { id: reservationId, actor: `agent:${run.agentId}` as const, ...price };
  await platform.database.transaction(run.tenantId, (tx) => reserveCredits(tx, run, request));
}

async function recordSuccess(
  { platform, viewer }: Context,
  run: BegunRun,
  { provider, model }: ChosenModel,
  { id, reservationId, isFirst, startedAt, request }: ModelCall,
  steps: AgentStep[],
  response: ChatResponse,
): Promise<void> {
  const credits = provider.isOwn ? null : chatCredits(model, response.inputTokens, response.outputTokens);
  const runCredits = isFirst && credits !== null ? RUN_CREDITS : '0';
  const step = stepOf(model.id, startedAt, response, credits);
  await platform.database.transaction(run.tenantId, async (tx) => {
    await saveSteps(tx, run, [...steps, step], credits === null ? '0' : addCredits(credits, runCredits));
    settleCredits(tx, run, reservationId);
    await recordAiCall(tx, { id, run, viewer, request });
  });
  steps.push(step);
}

const stepOf = (
  model: string,
  startedAt: Date,
  { content, inputTokens, outputTokens }: ChatResponse,
  credits: string | null,
): AgentStep => ({
  startedAt: startedAt.toISOString(),
  duration: Date.now() - startedAt.getTime(),
  model,
  inputTokens,
  outputTokens,
  credits: credits === null ? null : Number(credits),
  text: content === null ? null : excerpt(content),
  error: null,
  toolCalls: [],
});

/** Releases what is reserved for a call that failed, and records the step. */
async function recordFailure(
  { platform }: Context,
  run: BegunRun,
  { model }: ChosenModel,
  { reservationId, startedAt }: ModelCall,
  steps: AgentStep[],
  error: unknown,
): Promise<void> {
  const none = { content: null, toolCalls: [], inputTokens: 0, outputTokens: 0 };
  const reason = error instanceof ApiError ? error.message : 'The call failed';
  const step = { ...stepOf(model.id, startedAt, none, null), inputTokens: null, outputTokens: null, error: reason };
  await platform.database.transaction(run.tenantId, async (tx) => {
    releaseCredits(tx, run, reservationId);
    await saveSteps(tx, run, [...steps, step]);
  });
}

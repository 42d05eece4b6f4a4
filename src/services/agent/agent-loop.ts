import type { AgentStep, AgentToolCall } from '../../../entities/agent-run.ts';
import type { ChatMessage, ChatToolCall } from '../../core/ai.ts';
import type { Context } from '../../core/context.ts';
import { cancelled, conflict } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { ChosenModel } from '../ai/choose-model.ts';
import type { QueryRunner } from '../usage/effective-profile.ts';
import { NOT_ACCEPTED } from './agent-acceptance.ts';
import { openOwnedRun } from './agent-context.ts';
import { firstMessages } from './agent-messages.ts';
import { callModel, chooseAgentModel } from './agent-model-call.ts';
import { saveProgress, type BegunRun } from './agent-run-state.ts';
import type { ToolResult } from './tools/agent-tool.ts';
import { createToolBox, type ToolBox } from './tools/tool-box.ts';
import { excerpt } from './tools/tool-result.ts';

/** Maximum number of calls of the model in a run, each with the tools that it calls. */
const MAX_STEPS = 10;
/** Maximum number of calls of tools in one step. */
const MAX_CALLS = 16;
/** Results of all tools of a run. A model cannot take more. */
const MAX_RESULT_BYTES_OF_RUN = 1024 * 1024;
/** Arguments and results of all tools in the record of a run: a list has the records of many runs. */
const MAX_RECORD_BYTES = 64 * 1024;
/** Characters of a text in the record of a run past its maximum size. */
const MIN_EXCERPT = 64;

/** The execution of a run. */
export interface AgentWork {
  platform: Platform;
  run: BegunRun;
  ownerId: string;
  signal: AbortSignal;
  /** Called with the number of steps that have ended. */
  progress(steps: number): void;
}

/**
 * Executes a run: calls the model and the tools that it requests until it requests none. Returns its last text. Throws
 * CONFLICT after too many steps, and the error that ended a call of the model, e.g. a refusal. A tool that fails does
 * not end the run.
 */
export async function runLoop(work: AgentWork): Promise<string> {
  const { platform, run, signal } = work;
  const subject = { tenantId: run.tenantId, agentId: run.agentId, ownerId: work.ownerId };
  const { ctx: first, agent } = await openOwnedRun(platform, subject, signal);
  // It may have been changed since the run was requested.
  if (!agent.accepted) throw conflict(NOT_ACCEPTED);
  let ctx = first;
  const chosen = await chooseAgentModel(ctx, agent);
  const box = await createToolBox(ctx, agent.assistant, run.depth);
  const conversation = new Conversation(work, chosen, box, firstMessages(agent, run));
  if (box.notes.length > 0) await conversation.save();
  for (let step = 1; step <= MAX_STEPS; step += 1) {
    const output = await conversation.next(ctx);
    work.progress(step);
    if (output !== null) return output;
    // Each step uses the current rights of the owner.
    ({ ctx } = await openOwnedRun(platform, subject, signal));
  }
  throw conflict(`The run ended after ${MAX_STEPS} steps without a final response`);
}

/** The messages and steps of a run. */
class Conversation {
  readonly #work: AgentWork;
  readonly #chosen: ChosenModel;
  readonly #box: ToolBox;
  readonly #messages: ChatMessage[];
  readonly #steps: AgentStep[] = [];
  /** The tools that the run lacks, and what is missing from the responses of the model. */
  readonly #notes: string[];
  #resultBytes = 0;
  #recordBytes = 0;
  #sent = 0;

  constructor(work: AgentWork, chosen: ChosenModel, box: ToolBox, messages: ChatMessage[]) {
    this.#work = work;
    this.#chosen = chosen;
    this.#box = box;
    this.#messages = messages;
    this.#notes = [...box.notes];
  }

  /** Does one step. Returns the text of the model if it calls no tools, else null. */
  async next(ctx: Context): Promise<string | null> {
    const { content, toolCalls, message } = await callModel(ctx, this.#work.run, this.#chosen, {
      messages: this.#messages,
      tools: this.#box.tools,
      steps: this.#steps,
      notes: this.#notes,
      sent: this.#sent,
    });
    this.#sent = this.#messages.length;
    if (toolCalls.length === 0) return content ?? '';
    this.#messages.push(message);
    const recorded = this.#steps.at(-1)!.toolCalls;
    for (const [index, call] of toolCalls.entries()) {
      const { text, record } = await this.#callTool(ctx, call, index);
      this.#messages.push({ role: 'tool', toolCallId: call.id, content: text });
      // Of the calls past the maximum, the first one records that they were refused.
      if (index <= MAX_CALLS) recorded.push(record);
    }
    await this.save();
    return null;
  }

  /** Saves the steps and notes. Throws CANCELLED if the run has ended. */
  async save(): Promise<void> {
    const { platform, run } = this.#work;
    const runner: QueryRunner = { query: (statement) => platform.database.query(run.tenantId, statement) };
    if (!(await saveProgress(runner, run, { steps: this.#steps, notes: this.#notes }))) throw cancelled();
  }

  async #callTool(ctx: Context, call: ChatToolCall, index: number): Promise<{ text: string; record: AgentToolCall }> {
    const startedAt = performance.now();
    const { text, error = null } = await this.#callWithinLimits(ctx, call, index);
    this.#resultBytes += Buffer.byteLength(text);
    const duration = Math.round(performance.now() - startedAt);
    const record = {
      name: this.#excerpt(call.name),
      arguments: this.#excerpt(call.arguments),
      result: this.#excerpt(text),
      duration,
      error: error && this.#excerpt(error),
    };
    return { text, record };
  }

  /** Returns the beginning of a text for the record of the run, which is bounded. */
  #excerpt(text: string): string {
    const part = this.#recordBytes < MAX_RECORD_BYTES ? excerpt(text) : excerpt(text, MIN_EXCERPT);
    this.#recordBytes += Buffer.byteLength(part);
    return part;
  }

  /** Calls a tool unless a limit of the step or the run is reached: then the result is an error. */
  async #callWithinLimits(ctx: Context, call: ChatToolCall, index: number): Promise<ToolResult> {
    const refuse = (reason: string): ToolResult => ({ text: `Error: ${reason}`, error: reason });
    if (index >= MAX_CALLS) return refuse(`At most ${MAX_CALLS} tools are called in one step`);
    if (this.#resultBytes > MAX_RESULT_BYTES_OF_RUN) return refuse('The results of this run are too large already');
    return this.#box.call(ctx, call);
  }
}

import type { ChatTool } from '../../../core/ai.ts';
import type { Context } from '../../../core/context.ts';

/** The result of a tool for the model. */
export interface ToolResult {
  text: string;
  /** Why the call failed, for the record of the run; absent for a success. */
  error?: string;
}

/** A tool of a run. */
export interface AgentTool extends ChatTool {
  /**
   * Calls the tool with arguments that fit its schema, with the rights of the owner of the agent. The signal of the
   * context ends the call. Throws an `ApiError`, which is a result for the model, too.
   */
  call(ctx: Context, args: Record<string, unknown>): Promise<ToolResult>;
}

/** The tools of a run, and what was left out. */
export interface AgentTools {
  tools: AgentTool[];
  /** One sentence for each toolkit, dataset or tool that was left out. */
  notes: string[];
}

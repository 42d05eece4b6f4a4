import type { AiEndpoint, ChatRequest, ModelTier } from '../../core/ai.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
export interface ChosenModel {
  provider: { id: string; name: string; isOwn: boolean };
  model: { id: string; tier: ModelTier };
  endpoint: AiEndpoint;
}
export async function chooseModel(_: Context, __: object): Promise<ChosenModel> {
  throw conflict('There is no AI provider with a chat model');
}
export const estimateChat = (_: object, __: ChatRequest): string => '1.000000';
export const chatCredits = (_: object, __: number, ___: number): string => '0.100000';
export const recordAiCall = (_: Transaction, __: object): Promise<void> => Promise.resolve();

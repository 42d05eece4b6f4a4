import { Assistant } from '../../../entities/assistant.ts';
import type { Context } from '../../core/context.ts';
import * as assistants from '../../services/assistant/assistant.ts';
import { DEMO_APP } from './demo-app.ts';

/** The assistant of the demo. Nothing calls a model, since that takes an AI provider. */
export const DEMO_ASSISTANT = {
  name: 'Shop assistant',
  slug: 'shop-assistant',
  description: 'Knows the orders of the shop. Create an AI provider before you use it.',
  icon: 'store',
  instructions: 'You help the people of a shop. Look orders up before you say something about them. Be brief.',
  events: [{ appId: DEMO_APP.slug, name: 'order.received' }],
} as const;

/** Creates the assistant of the demo where it is missing. Returns its id, and whether it was missing. */
export async function createDemoAssistant(
  ctx: Context,
  folderId: string,
  used: { toolkitIds: string[]; datasetIds: string[] },
): Promise<{ id: string; isNew: boolean }> {
  const found = await ctx.read.find(Assistant, DEMO_ASSISTANT.slug, ['id']);
  if (found) return { id: found.id, isNew: false };
  const events = [...DEMO_ASSISTANT.events];
  return { id: await assistants.create(ctx, { ...DEMO_ASSISTANT, ...used, events, folderId }), isNew: true };
}

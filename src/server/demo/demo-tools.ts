import { Library } from '../../../entities/library.ts';
import { Toolkit } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import * as libraries from '../../services/library/library.ts';
import * as toolkits from '../../services/toolkit/toolkit.ts';

/** The library of the demo. Nothing connects it, since that takes an account of a cloud drive. */
export const DEMO_LIBRARY = {
  name: 'Shop documents',
  slug: 'shop-documents',
  description:
    'Will have the PDF and Word files of a cloud drive. Create an integration with the client id that the provider gives ' +
    'you, set it here, and authorize the connection.',
  settings: { extensions: ['pdf', 'docx'] },
} as const;

/** The toolkit of the demo, whose tool runs a saved query of the demo. */
export const DEMO_TOOLKIT = {
  name: 'Shop tools',
  slug: 'shop-tools',
  description: 'Lets agents look up the orders of the shop.',
  type: 'custom',
} as const;

/** Creates the library of the demo. Returns whether there was none. */
export async function createDemoLibrary(ctx: Context, folderId: string): Promise<boolean> {
  if (await ctx.read.find(Library, DEMO_LIBRARY.slug, ['id'])) return false;
  await libraries.create(ctx, { ...DEMO_LIBRARY, folderId });
  return true;
}

/** Creates the toolkit of the demo on a saved query with the parameters `since` and `country`. Returns whether there was none. */
export async function createDemoToolkit(ctx: Context, folderId: string, queryId: string): Promise<boolean> {
  if (await ctx.read.find(Toolkit, DEMO_TOOLKIT.slug, ['id'])) return false;
  const inputSchema = {
    type: 'object',
    properties: {
      since: { type: 'string', format: 'date', description: 'First day, e.g. 2026-01-31.' },
      country: { type: 'string', description: 'Country of the customer, e.g. France. All countries by default.' },
    },
    required: ['since'],
  };
  const tool = {
    name: 'orders_since',
    description: 'Lists the orders since a day, with customer, status and total.',
    inputSchema,
    queryId,
  };
  await toolkits.create(ctx, { ...DEMO_TOOLKIT, folderId, config: { tools: [tool] } });
  return true;
}

import type { Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';

/** A template with its path. */
export interface TestTemplate {
  id: string;
  path: string;
}

/** Creates a template of the caller. */
export async function createTemplate(client: Client, more: object = {}): Promise<TestTemplate> {
  const { id } = await client.creates('/templates', { name: 'Invoice', ...more });
  return { id, path: `/templates/${id}` };
}

export const test = base;

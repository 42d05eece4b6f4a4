import { expect, test } from 'vitest';
import type { HandlerTask } from '../../src/core/app-run.ts';
import type { WorkspaceKey } from '../../src/core/app-workspace.ts';
import type { Platform } from '../../src/core/platform.ts';
import { createHostCalls } from '../../src/services/app/handler-host.ts';

test('all visitors of the apps of an owner share the connections of that owner', async () => {
  const keys: WorkspaceKey[] = [];
  const query = async (key: WorkspaceKey) => {
    keys.push(key);
    return [];
  };
  const caller = { enabled: true, locked: false, teams: {}, permissions: [] };
  const platform = { workspaces: { query }, system: { query: async () => [caller] } } as unknown as Platform;
  const viewer = { userId: 'bob', principals: ['user:bob'], permissions: new Set() };
  for (const [id, ownerId] of Object.entries({ one: 'user:ann', two: 'user:ann', three: 'team:ops' })) {
    const authority = { scopes: new Set(['write']), credential: {}, isSessionGet: false, limits: [] };
    const task = {
      app: { id, tenantId: 'tenant', ownerId },
      ctx: { platform, viewer },
      authority,
    } as unknown as HandlerTask;
    await createHostCalls(platform, task)['query']!({ sql: 'select 1', params: [] }, new AbortController().signal);
  }
  expect(keys.map(({ appId, ownerId, visitorId }) => [appId, ownerId, visitorId])).toEqual([
    ['one', 'ann', 'bob'],
    ['two', 'ann', 'bob'],
    ['three', 'ops', 'bob'],
  ]);
});

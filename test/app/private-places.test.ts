import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { AppScope } from '../../src/core/app-access.ts';
import type { HandlerTask } from '../../src/core/app-run.ts';
import { bodyOwnerOf, codeUserOf, placeOf } from '../../src/services/app/handler-places.ts';

/** Returns a handler that bob's run calls, with the grants of bob to each app of the chain. */
const calledBy = (...grants: AppScope[][]) =>
  ({
    app: { id: 'one', tenantId: 'tenant', ownerId: 'user:ann' },
    ctx: { viewer: { userId: 'bob' } },
    authority: { limits: grants.map((scopes) => ({ granted: { scopes, hosts: [] } })) },
    depth: 1,
  }) as unknown as HandlerTask;

test.for<[AppScope[][], boolean]>([
  [[], false],
  [[[]], false],
  [[['notify', 'email', 'send', 'admin']], false],
  [[['read', 'keep']], false],
  [[['read']], true],
  [[['write']], true],
  [[['read', 'send', 'notify', 'email', 'admin']], true],
  [[['read', 'keep'], ['read']], true],
  [[['read'], ['read', 'keep']], true],
  [[[], ['read']], true],
])('a run with the grants %j shares with the caller alone: %s', ([grants, isPrivate]) => {
  const task = calledBy(...grants);
  expect([placeOf(task), codeUserOf(task), bodyOwnerOf(task)]).toEqual(
    isPrivate
      ? [{ purpose: 'private-called', caller: { tenantId: 'tenant', userId: 'bob' } }, 'bob', 'user bob']
      : [{ purpose: 'called', caller: { tenantId: 'tenant', userId: 'ann', visitorId: 'bob' } }, undefined, 'one'],
  );
});

test('the code of a private run that no other one calls is kept for all', () => {
  expect(codeUserOf({ ...calledBy(['read']), depth: 0 })).toBe(undefined);
});

/** The resources that a private run shares with others, as in the table of the contract. */
const OWN = 'places of handlers, and memory for bodies';
const ENDED = 'statements and connections of apps';
const REFUSED = 'webhooks and events';
const CALLS = 'calls a minute, streams';
const OF_CALLER = 'limits of a user';
const TOTAL = 'places of other work';
/** Resources that no run of a handler uses: sockets, GraphQL, logins, and the work of agents, workers and deployments. */
const NONE = null;

const SHARED: Record<string, string | null> = {
  'resolvers/support/limit-subscriptions.ts': CALLS,
  'src/adapters/app-code/parse-modules.ts': OWN,
  'src/adapters/app-workspace/workspace-pool.ts': ENDED,
  'src/adapters/browser/chromium-printer.ts': TOTAL,
  'src/adapters/chart/draw.ts': TOTAL,
  'src/adapters/dataset-index/duckdb/serving.ts': TOTAL,
  'src/adapters/dataset-index/duckdb/words-sidecar.ts': TOTAL,
  'src/adapters/dataset-index/elasticsearch/client.ts': TOTAL,
  'src/adapters/pictures/pictures.ts': TOTAL,
  'src/adapters/sandbox/sandbox.ts': OWN,
  'src/core/fair-gate.ts': NONE,
  'src/core/large-json.ts': TOTAL,
  'src/server/app-calls.ts': REFUSED,
  'src/server/compression.ts': NONE,
  'src/server/graphql/document-thread.ts': NONE,
  'src/server/graphql/schema-responses.ts': NONE,
  'src/server/graphql/waiting-sockets.ts': NONE,
  'src/server/graphql/websocket.ts': NONE,
  'src/server/http.ts': CALLS,
  'src/server/public-bodies.ts': NONE,
  'src/server/unread-responses.ts': NONE,
  'src/services/client/schema-check.ts': TOTAL,
  'src/services/connection/token-source.ts': TOTAL,
  'src/services/dataset/index-query.ts': TOTAL,
  'src/services/datasource/datasource-connection.ts': TOTAL,
  'src/services/datasource/upload.ts': TOTAL,
  'src/services/identity/password.ts': NONE,
  'src/services/identity/provider-login.ts': NONE,
  'src/services/library/sync-download.ts': NONE,
  'src/services/oauth/authorization.ts': NONE,
  'src/services/operation/operation.ts': OF_CALLER,
  'src/services/report/dataset-reference-view.ts': OF_CALLER,
  'src/services/resource/picture-file.ts': TOTAL,
  'src/services/resource/run-unit-of-work.ts': TOTAL,
  'src/services/resource/viewer-context.ts': TOTAL,
  'src/services/template/render-gate.ts': TOTAL,
  'src/services/toolkit/toolkit-client.ts': NONE,
};

test('all that requests share is in the table of private runs', async () => {
  const found: string[] = [];
  for await (const path of glob(['src/**/*.ts', 'resolvers/**/*.ts', 'rest-bridge/**/*.ts']))
    if (
      /FairGate\.shared\(|new (?:FairGate|PerUserLimit|RateLimiter|AppBodies|UnreadResponses)\(|MAX_WAITING_OPERATIONS =/.test(
        readFileSync(path, 'utf8'),
      )
    )
      found.push(path);
  expect(found.toSorted()).toEqual(Object.keys(SHARED));
  const contract = readFileSync('docs/contract/handlers.md', 'utf8');
  const [, table] = /## Private runs\n(.*)/s.exec(contract) ?? [];
  for (const row of new Set(Object.values(SHARED))) if (row) expect(table).toContain(`| ${row} |`);
});

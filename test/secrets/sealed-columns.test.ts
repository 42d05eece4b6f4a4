import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { SEALED_COLUMNS } from '../../src/core/sealed-columns.ts';
import { findPlaces } from '../../src/services/secrets/sealed-places.ts';
import { test as worldTest } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { findUnregistered } from '../support/sealed-values.ts';

/** The modules that seal, and where what they seal is stored: columns, or nothing that outlasts a day. */
const SEALERS: Record<string, readonly string[]> = {
  'src/operations/reseal.ts': [],
  'src/services/ai/ai-provider.ts': ['ai_provider.sealed_api_key'],
  'src/services/ai/record-ai-call.ts': ['ai_call.sealed_prompt', 'credit_reservation.call.record.sealedPrompt'],
  'src/services/app/app.ts': ['app.env'],
  'src/services/app/hook-token.ts': ['app_hook_token.sealed'],
  'src/services/app/webhook-call-request.ts': ['webhook_call.request'],
  'src/services/app/webhook-idempotency.ts': ['webhook_reply.response'],
  'src/services/connection/authorization-state.ts': ['oauth_state.sealed'],
  'src/services/oauth/authorization.ts': ['connection.sealed_tokens', 'connection.sealed_client'],
  'src/services/connection/registered-client.ts': ['oauth_registration.sealed'],
  'src/services/connection/token-source.ts': ['connection.sealed_tokens'],
  // The cursor of a page.
  'src/services/dataset/dataset-data.ts': [],
  'src/services/datasource/datasource.ts': ['datasource.secrets'],
  'src/services/identity/bootstrap.ts': ['setting.value'],
  'src/services/identity/identity-provider.ts': ['identity_provider.sealed_client_secret'],
  // The cookie of a login.
  'src/services/identity/provider-login-state.ts': [],
  'src/services/image/image-request.ts': [
    'operation.input.sealedPrompt',
    'image.sealed_prompt',
    'credit_reservation.call.record.sealedPrompt',
  ],
  'src/services/job/job-action-data.ts': ['job_action.secrets'],
  'src/services/library/integration.ts': ['integration.sealed_client_secret'],
  'src/services/resource/idempotency-store.ts': ['idempotency_key.sealed'],
  'src/services/resource/mail.ts': ['mail.sealed_text', 'mail.sealed_html'],
  'src/services/toolkit/toolkit-config.ts': ['toolkit.sealed_secrets'],
};

test('every module that seals names its columns, and every column is one of them', () => {
  const found = execFileSync(
    'git',
    ['grep', '--untracked', '-lE', String.raw`\.seal(Bytes)?\(`, '--', 'src', 'resolvers'],
    {
      encoding: 'utf8',
    },
  );
  expect(found.trim().split('\n').toSorted()).toEqual(Object.keys(SEALERS).toSorted());
  expect([...new Set(Object.values(SEALERS).flat())].toSorted()).toEqual([...SEALED_COLUMNS].toSorted());
});

worldTest('every column exists and has a primary key', async ({ service }) => {
  const places = await findPlaces((statement) => service.platform.system.query(statement));
  expect(places.map(({ name }) => name)).toEqual(SEALED_COLUMNS);
  for (const { name, keys } of places) expect(keys.length, name).toBeGreaterThan(0);
});

worldTest('a sealed value elsewhere is found, in texts, lists, JSON and bytes', async ({ service }) => {
  const { databaseUrl, platform } = service;
  expect(await findUnregistered(databaseUrl)).toEqual([]);
  await runSql(databaseUrl, `create table dws.leak (t text, l text[], j jsonb, a jsonb, b bytea)`);
  const sealed = platform.secrets.seal('x');
  await runSql(databaseUrl, 'insert into dws.leak values ($1, $2, $3, $4, $5)', [
    sealed,
    ['', sealed],
    JSON.stringify({ one: 1, two: { three: sealed } }),
    JSON.stringify([sealed]),
    platform.secrets.sealBytes(Buffer.from('x')),
  ]);
  expect(await findUnregistered(databaseUrl)).toEqual(['leak.a', 'leak.b', 'leak.j.two', 'leak.l', 'leak.t']);
  await runSql(databaseUrl, 'drop table dws.leak');
});

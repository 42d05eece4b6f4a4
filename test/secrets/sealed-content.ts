import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { newId } from '../../src/core/id.ts';
import { SEALED_COLUMNS } from '../../src/core/sealed-columns.ts';
import { findPlaces } from '../../src/services/secrets/sealed-places.ts';
import { countSealed, type KeyUse } from '../../src/services/secrets/sealed-values.ts';
import { FIXTURES } from '../conformance/fixtures.ts';
import { connect } from '../library/library-fixture.ts';
import { addImage } from '../support/ai-records.ts';
import type { Client } from '../support/client.ts';
import { PASSWORD, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

export const OLD = 'the old secret of an installation';
export const NEW = 'the new secret of an installation';
export const [OLD_KEY, NEW_KEY] = [OLD, NEW].map((ring) => createSecretBox(ring).fingerprint) as [string, string];

/** Resources with secrets, by what has them. */
export interface SealedContent {
  datasource: string;
  integration: string;
  provider: string;
  aiProvider: string;
  toolkit: string;
  app: string;
  job: string;
  library: string;
  image: string;
}

/** Stores at least one value in each place of `SEALED_COLUMNS`, as the superuser `admin`. */
export async function storeSealedContent(service: Service, admin: Client): Promise<SealedContent> {
  const root = await service.login(admin.username, { password: PASSWORD });
  const datasource = await FIXTURES['datasources']!.create(admin, 'Shop');
  const integration = await FIXTURES['integrations']!.create(admin, 'Drive');
  const provider = await root.creates('/identity-providers', {
    name: 'Corp',
    domain: 'corp.example',
    issuer: 'https://login.corp.example',
    clientId: 'workspace',
    clientSecret: 'secret of the client',
  });
  const aiProvider = await root.creates('/ai-providers', {
    name: 'Models',
    baseUrl: 'https://ai.example/v1',
    apiKey: 'sk-models',
  });
  const toolkit = await admin.creates('/toolkits', {
    name: 'Tools',
    type: 'mcp-remote',
    config: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer tools' } },
  });
  const app = await admin.creates('/apps', { name: 'Orders', env: { TOKEN: 'token of the app' } });
  const job = await admin.creates('/jobs', { name: 'Nightly', type: 'actions' });
  await admin.creates(`/jobs/${job.id}/actions`, {
    type: 'webhook',
    name: 'Tell',
    data: { url: 'https://example.com/hook', headers: { 'x-token': 'token of the hook' } },
  });
  const library = await admin.creates('/libraries', { name: 'Reports', integrationId: integration });
  await connect(service, admin, library.id, integration);
  const { imageId: image } = await addImage(service, admin);
  const content = {
    datasource,
    integration,
    provider: provider.id,
    aiProvider: aiProvider.id,
    toolkit: toolkit.id,
    app: app.id,
    job: job.id,
    library: library.id,
    image,
  };
  await storeRows(service, admin, content);
  return content;
}

/** Stores what requests leave only for a while. */
async function storeRows(service: Service, admin: Client, { app, toolkit, library }: SealedContent): Promise<void> {
  const { secrets } = service.platform;
  const tenant = `(select tenant_id from dws.app_user where id = '${admin.id}')`;
  const rows: Record<string, [text: string, ...sealed: string[]]> = {
    connection: [`update dws.connection set sealed_client = $1`, '{"clientId":"client"}'],
    mail: [
      `insert into dws.mail (id, tenant_id, user_id, recipient, subject, sealed_text, sealed_html)
       values ('${newId()}', ${tenant}, '${admin.id}', 'a@example.com', 'Hello', $1, $2)`,
      'text of the mail',
      '<p>text of the mail</p>',
    ],
    registration: [
      `insert into dws.oauth_registration (toolkit_id, tenant_id, sealed) values ('${toolkit}', ${tenant}, $1)`,
      '{"clientId":"registered"}',
    ],
    state: [
      `insert into dws.oauth_state (state_hash, tenant_id, user_id, library_id, sealed, expires_at)
       values ('hash', ${tenant}, '${admin.id}', '${library}', $1, now() + interval '1 day')`,
      '{"verifier":"v"}',
    ],
    operation: [
      `insert into dws.operation (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, input, status,
         finished_at)
       values ('${newId()}', ${tenant}, '${newId()}', '${admin.id}', 'image.create', 'image', '${newId()}',
         jsonb_build_object('model', 'draw', 'sealedPrompt', $1::text), 'failed', now())`,
      'a prompt that waits',
    ],
    setting: [`insert into dws.setting (name, value) values ('unshown_password', $1)`, '{"userId":"u","password":"p"}'],
    call: [
      `insert into dws.webhook_call (id, tenant_id, app_id, at, method, path, status, duration, peak_memory, request_id,
         request)
       values ('${newId()}', ${tenant}, '${app}', now(), 'POST', '/orders', 200, 1, 1, 'r', $1)`,
      '{"body":"a call"}',
    ],
    sent: [
      `insert into dws.credit_reservation (tenant_id, id, actor, credits, expires_at, sent_at, work_id, call)
       values (${tenant}, '${newId()}', 'user:${admin.id}', 0, now(), now(), '${newId()}',
         jsonb_build_object('record', jsonb_build_object('sealedPrompt', $1::text)))`,
      'a prompt that was sent',
    ],
  };
  for (const [text, ...values] of Object.values(rows))
    await systemQuery(service, text, ...values.map((value) => secrets.seal(value)));
  await systemQuery(
    service,
    `insert into dws.webhook_reply (tenant_id, app_id, key, request, run_id, running_until, response)
     values (${tenant}, '${app}', 'key', 'digest', '${newId()}', now(), $1)`,
    secrets.sealBytes(Buffer.from('a reply')),
  );
  await systemQuery(
    service,
    `insert into dws.idempotency_key (tenant_id, user_id, key, path, fingerprint, run_id, sealed, ended)
     values (${tenant}, '${admin.id}', 'key', 'createTag', 'digest', '${newId()}', $1, true)`,
    secrets.sealBytes(Buffer.from('{"results":{},"form":"waiting","data":{}}')),
  );
}

/** Returns all values by their place, decrypted and in order. */
export async function openAll(service: Service): Promise<Record<string, string[]>> {
  const { system, secrets } = service.platform;
  const opened: Record<string, string[]> = {};
  for (const { name, table, isBytes, value, fingerprint } of await findPlaces((statement) => system.query(statement))) {
    const rows = await systemQuery<{ value: string }>(
      service,
      `select ${value} as value from dws.${table} r where ${fingerprint} is not null`,
    );
    const open = (sealed: string) =>
      isBytes ? String(secrets.openBytes(Buffer.from(sealed, 'base64'), name)) : secrets.open(sealed, name);
    opened[name] = rows.map((row) => open(row.value)).toSorted();
  }
  return opened;
}

/** Returns the number of values under each key. */
export const countKeys = async (service: Service): Promise<Record<string, number>> =>
  toCounts(await countSealed((statement) => service.platform.system.query(statement)));

const toCounts = (uses: KeyUse[]): Record<string, number> =>
  Object.fromEntries(uses.map(({ fingerprint, values }) => [fingerprint, values]));

/** The names of all places. */
export const PLACES: readonly string[] = SEALED_COLUMNS;

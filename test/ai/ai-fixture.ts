import { newId } from '../../src/core/id.ts';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake } from '../../tools/ai-fake/fake-provider.ts';
import type { Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** A prompt that occurs nowhere else. */
export const PROMPT = 'A crimson walrus juggling seventeen teapots';

/** A service that may call this machine and whose log is kept, and a fake provider, which is reset before each test. */
export const test = base.extend<{
  log: string[];
  service: Service;
  fake: AiFake;
  provider: { id: string; path: string };
}>({
  log: [async ({}, use) => use([]), { scope: 'file' }],
  service: [
    async ({ log }, use) => {
      const write = (line: string) => void log.push(line);
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' }, { log: { write } });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  fake: [
    async ({}, use) => {
      const fake = await startAiFake();
      await use(fake);
      await fake.close();
    },
    { scope: 'file' },
  ],
  /** The fake as a provider of the tenant, for one test. */
  provider: async ({ admin, fake }, use) => {
    fake.reset();
    const { id } = await admin.creates('/ai-providers', fake.provider);
    await use({ id, path: `/ai-providers/${id}` });
    await admin.delete(`/ai-providers/${id}`);
  },
});

let profiles = 0;

/** Gives users a usage profile of their own. Null: no cap. */
export async function limit(
  service: Service,
  users: readonly Client[],
  creditCapPerMonth: number | null,
  tiers: readonly string[] = ['everyday', 'advanced', 'strategic'],
): Promise<void> {
  profiles += 1;
  await systemQuery(
    service,
    `with profile as (
      insert into dws.usage_profile (id, tenant_id, name, slug, description, credit_cap_per_month, allowed_model_tiers)
      select $1, tenant_id, 'Limited', $2, 'For a test', $3, $4 from dws.app_user where id = any($5) limit 1
      returning id
    )
    update dws.app_user set usage_profile_id = (select id from profile) where id = any($5)`,
    newId(),
    `limited-${profiles}`,
    creditCapPerMonth,
    JSON.stringify(tiers),
    users.map(({ id }) => id),
  );
}

/** Returns the charges of AI calls of a user, oldest first. */
export const chargesOf = (service: Service, { id }: Client) =>
  systemQuery<{ key: string; credits: string; entityType: string; entityId: string; metadata: object }>(
    service,
    `select key, credits::text, entity_type as "entityType", entity_id as "entityId", metadata
    from dws.usage_event
    where actor = $1 and resource_type = 'ai'
    order by id`,
    `user:${id}`,
  );

/** Returns the number of reservations. */
export async function countReservations(service: Service): Promise<number> {
  const [row] = await systemQuery<{ count: number }>(
    service,
    'select count(*)::int as count from dws.credit_reservation',
  );
  return row!.count;
}

/** Returns every value of every column of all tables, as text. */
export async function databaseText(service: Service): Promise<string> {
  const tables = await systemQuery<{ name: string }>(
    service,
    `select format('%I.%I', table_schema, table_name) as name
    from information_schema.tables
    where table_schema in ('dws', 'dws_jobs') and table_type = 'BASE TABLE'`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await systemQuery<{ text: string }>(service, `select t::text as text from ${name} t`).catch(() => []);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
}

import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { newId } from '../../src/core/id.ts';
import type { SecretBox } from '../../src/core/platform.ts';
import { resealAll } from '../../src/operations/reseal.ts';
import { findPlaces } from '../../src/services/secrets/sealed-places.ts';
import { eventually } from '../operation/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder, startProcess } from '../support/service-process.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { WAITING_FOR_LOCKS } from '../support/waiting-locks.ts';
import { countKeys, NEW, NEW_KEY, OLD, OLD_KEY } from './sealed-content.ts';

const NEVER = new AbortController().signal;
const [old, both] = [createSecretBox(OLD), createSecretBox(`${NEW},${OLD}`)];

/** Runs `work` on a service without a worker that has `count` mails, whose texts are their numbers under the old key. */
async function withMails(count: number, work: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService({ APP_SECRET: OLD, ROLE: 'web' });
  try {
    await systemQuery(
      service,
      `insert into dws.mail (id, tenant_id, recipient, subject, sealed_text, status)
       select m.id, t.id, 'a@example.com', 'Hello', m.sealed, 'sent'
       from dws.tenant t, unnest($1::uuid[], $2::text[]) m (id, sealed)
       where t.slug = 'default'`,
      Array.from({ length: count }, () => newId()),
      Array.from({ length: count }, (_, index) => old.seal(String(index))),
    );
    await work(service);
  } finally {
    await service.close();
  }
}

/** Returns the texts of the mails as numbers, in order. */
async function textsOf(service: Service, secrets: SecretBox): Promise<number[]> {
  const rows = await systemQuery<{ sealed: string }>(service, 'select sealed_text as sealed from dws.mail');
  return rows.map(({ sealed }) => Number(secrets.open(sealed, 'a mail'))).toSorted((a, b) => a - b);
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

const resealIn = ({ platform }: Service): Promise<number> => resealAll({ ...platform, secrets: both }, NEVER);

describe('values under a former key', () => {
  test('are sealed again by two processes concurrently, each once', () =>
    withMails(2300, async (service) => {
      const other = await startService(
        { APP_SECRET: `${NEW},${OLD}`, ROLE: 'web' },
        { databaseUrl: service.databaseUrl },
      );
      const counts = await Promise.all([resealIn(service), resealIn(other)]);
      await other.close();
      expect(counts[0]! + counts[1]!).toBe(2300);
      expect(await countKeys(service)).toEqual({ [NEW_KEY]: 2300 });
      expect(await textsOf(service, createSecretBox(NEW))).toEqual(numbers(2300));
      expect(await resealIn(service), 'a pass with nothing to do').toBe(0);
    }));

  test('survive kill -9 within a batch: what was committed stays, the next process does the rest', () =>
    withMails(1200, async (service) => {
      // The update of the second batch waits for a lock of this test.
      const blocker = new pg.Client({ connectionString: service.databaseUrl });
      await blocker.connect();
      await blocker.query('select pg_advisory_lock(4242)');
      await runSql(
        service.databaseUrl,
        `create table public.slow as select id from dws.mail order by id offset 700 limit 1;
         grant select on public.slow to dws_system;
         create function public.wait() returns trigger language plpgsql as $$
           begin
             if exists (select from public.slow where id = new.id) then perform pg_advisory_xact_lock(4242); end if;
             return new;
           end $$;
         create trigger slow before update on dws.mail for each row execute function public.wait();`,
      );
      const folder = newFolder();
      const variables = { DATABASE_URL: service.databaseUrl, DATA_DIR: folder.path, APP_SECRET: `${NEW},${OLD}` };
      const killed = await startProcess(variables);
      expect(await eventually(async () => (await systemQuery(service, WAITING_FOR_LOCKS)).length > 0)).toBe(true);
      expect(await countKeys(service)).toEqual({ [OLD_KEY]: 700, [NEW_KEY]: 500 });
      expect(await killed.end('SIGKILL')).toBe('SIGKILL');
      await blocker.end();
      await runSql(service.databaseUrl, 'drop trigger slow on dws.mail; drop function public.wait(); drop table slow');
      expect(await textsOf(service, both)).toEqual(numbers(1200));
      await resealIn(service);
      expect(await countKeys(service)).toEqual({ [NEW_KEY]: 1200 });
      expect(await textsOf(service, createSecretBox(NEW))).toEqual(numbers(1200));
      folder.remove();
    }));

  test('of a row that is being written are left to the writer', () =>
    withMails(3, async (service) => {
      const writer = new pg.Client({ connectionString: service.databaseUrl });
      await writer.connect();
      await writer.query('begin');
      const { rows } = await writer.query<{ id: string }>(
        `update dws.mail set sealed_text = $1 where id = (select min(id::text)::uuid from dws.mail) returning id`,
        [old.seal('77')],
      );
      expect(await resealIn(service)).toBe(2);
      await writer.query('commit');
      await writer.end();
      expect(rows.length).toBe(1);
      expect(await textsOf(service, both)).toEqual([1, 2, 77]);
      expect(await resealIn(service)).toBe(1);
      expect(await textsOf(service, createSecretBox(NEW))).toEqual([1, 2, 77]);
    }));

  test('that are damaged stay as they are, and do not stop the others', () =>
    withMails(3, async (service) => {
      await systemQuery(
        service,
        `update dws.mail set sealed_text = left(sealed_text, -4) || 'AAAA'
         where id = (select min(id::text)::uuid from dws.mail)`,
      );
      expect(await resealIn(service)).toBe(2);
      expect(await countKeys(service)).toEqual({ [OLD_KEY]: 1, [NEW_KEY]: 2 });
    }));

  test('are found in columns of bytes, too', () =>
    withMails(0, async (service) => {
      const { databaseUrl, platform } = service;
      await runSql(
        databaseUrl,
        `create table dws.raw (id uuid, part int, content bytea, primary key (id, part)); grant all on dws.raw to dws_system`,
      );
      const bytes = Buffer.from([0, 255, 10, 46, 128]);
      await systemQuery(
        service,
        'insert into dws.raw values ($1, 1, $2), ($1, 2, null)',
        newId(),
        old.sealBytes(bytes),
      );
      const query = <R extends Record<string, unknown>>(statement: { text: string; values?: unknown[] }) =>
        platform.system.query<R>(statement);
      const [place] = await findPlaces(query, ['raw.content']);
      const count = await resealAll({ ...platform, secrets: both }, NEVER, ['raw.content']);
      expect([place!.isBytes, count]).toEqual([true, 1]);
      const [row] = await query<{ content: Buffer }>({ text: 'select content from dws.raw where part = 1' });
      expect(createSecretBox(NEW).openBytes(row!.content, 'it')).toEqual(bytes);
      expect(() => old.openBytes(row!.content, 'it')).toThrow('Cannot decrypt it: the key is no longer in APP_SECRET');
      expect(() => both.openBytes(row!.content.subarray(0, -1), 'it')).toThrow(
        'Cannot decrypt it: what is stored is damaged',
      );
    }));
});

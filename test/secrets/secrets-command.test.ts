import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { newId } from '../../src/core/id.ts';
import { dws } from '../support/command.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { NEW, NEW_KEY, OLD, OLD_KEY } from './sealed-content.ts';

/** A service with one mail under the old key and two under the new one. */
async function withBothKeys(work: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService({ APP_SECRET: `${NEW},${OLD}`, ROLE: 'web' });
  for (const ring of [OLD, NEW, NEW])
    await systemQuery(
      service,
      `insert into dws.mail (id, tenant_id, recipient, subject, sealed_text, status)
       select $1, id, 'a@example.com', 'Hello', $2, 'sent' from dws.tenant where slug = 'default'`,
      newId(),
      createSecretBox(ring).seal('text'),
    );
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

const variablesOf = ({ databaseUrl, platform }: Service, APP_SECRET: string) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: platform.config.DATA_DIR,
  APP_SECRET,
});

describe('dws secrets status', () => {
  test('counts the values under each key, by table', () =>
    withBothKeys(async (service) => {
      const both = variablesOf(service, `${NEW},${OLD}`);
      expect(await dws(both, 'secrets', 'status')).toEqual({
        out: [
          `newest  ${NEW_KEY} (mail 2)\nformer  ${OLD_KEY} (mail 1)\n1 values left under other keys than the newest.`,
        ],
        err: [],
        code: 0,
      });
      const { out } = await dws(both, 'secrets', 'status', '--json');
      expect(JSON.parse(out.join('\n'))).toEqual({
        keys: [
          { fingerprint: NEW_KEY, state: 'newest', values: 2, tables: { mail: 2 } },
          { fingerprint: OLD_KEY, state: 'former', values: 1, tables: { mail: 1 } },
        ],
        left: 1,
      });
      const alone = await dws(variablesOf(service, NEW), 'secrets', 'status', '--json');
      expect(JSON.parse(alone.out.join('\n'))).toMatchObject({
        keys: [{ state: 'newest' }, { fingerprint: OLD_KEY, state: 'missing', values: 1 }],
        left: 1,
      });
      await systemQuery(service, `delete from dws.mail where sealed_text like $1`, `v1.${OLD_KEY}.%`);
      expect((await dws(both, 'secrets', 'status')).out.join()).toMatch(/\n0 values left: no former key is needed/);
    }));
});

test('dws doctor counts what is under each key, and fails for a key that is missing', () =>
  withBothKeys(async (service) => {
    const lineOf = async (ring: string) =>
      (await dws(variablesOf(service, ring), 'doctor')).out.find((line) => line.includes('key ring'));
    expect(await lineOf(`${NEW},${OLD}`)).toBe(
      `ok    key ring    no key is missing; 2 values under the newest key; left under ${OLD_KEY} (mail 1)`,
    );
    expect(await lineOf(NEW)).toBe(`FAIL  key ring    APP_SECRET lacks keys: ${OLD_KEY} (mail 1)`);
  }));

test('a restore names the keys that the backup needs before it changes anything, and the start refuses without', () =>
  withBothKeys(async (service) => {
    const [away, folder] = [newFolder(), newFolder()];
    const archive = join(away.path, 'dws.backup');
    expect((await dws(variablesOf(service, `${NEW},${OLD}`), 'backup', archive)).code).toBe(0);
    const keys = [OLD_KEY, NEW_KEY].toSorted().join(', ');

    const filled = await dws(variablesOf(service, NEW), 'restore', archive);
    expect(filled).toEqual({
      out: [
        `The backup needs the keys ${keys}.`,
        `APP_SECRET does not have the key ${OLD_KEY}. Set APP_SECRET, or restore DATA_DIR/secret, before the start.`,
      ],
      err: ['A backup is restored into an empty database and an empty DATA_DIR only'],
      code: 1,
    });

    const target = await createDatabase('template0');
    const variables = { DATABASE_URL: target.url, DATA_DIR: folder.path };
    const restored = await dws({ ...variables, APP_SECRET: NEW }, 'restore', archive);
    expect(restored.code).toBe(0);
    expect(restored.out.at(-1)).toBe(`Before the start: APP_SECRET does not have the key ${OLD_KEY}.`);
    expect(existsSync(join(folder.path, 'secret'))).toBe(false);
    const start = (ring: string) =>
      startService({ APP_SECRET: ring, ROLE: 'web', DATA_DIR: folder.path }, { databaseUrl: target.url });
    await expect(start(NEW)).rejects.toThrow(`Missing: ${OLD_KEY} (mail 1)`);
    await (await start(`${NEW},${OLD}`)).close();
    const mails = await runSql(target.url, 'select from dws.mail');
    expect(mails.length).toBe(3);
    await target.drop();
    away.remove();
  }));

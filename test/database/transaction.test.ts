import { describe, expect } from 'vitest';
import { Tag } from '../../entities/tag.ts';
import { User } from '../../entities/user.ts';
import { newRow } from '../../src/core/new-row.ts';
import type { Transaction } from '../../src/core/platform.ts';
import { recordEvents } from '../support/audit-fixture.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { systemQuery } from '../support/system-query.ts';
import { tagOf, test } from './transaction-fixture.ts';

const nameOf = (tag: Tag | null) => tag?.name;

describe('the unit of work', () => {
  test('writes changed rows once, with a new version and time', async ({ database, tenantId }) => {
    const created = await database.transaction(tenantId, async (tx) => tx.insert(tagOf(tenantId, 'first')));
    expect(created.version).toBe(1);
    const trips = await recordRoundTrips(() =>
      database.transaction(tenantId, async (tx) => {
        const tag = (await tx.findOne(Tag, { id: created.id }, { lock: 'update' }))!;
        tag.name = 'between';
        tag.name = 'second';
      }),
    );
    expect(trips.map((texts) => texts.length)).toEqual([2, 2]);
    expect(trips[1]![0]).toContain(
      `update "dws"."tag" set "name" = $3, "updated_at" = $4, version = version + 1 where tenant_id = $1 and id = $2`,
    );
    const stored = await database.transaction(tenantId, (tx) => tx.findOne(Tag, { name: 'second' }));
    expect(stored).toMatchObject({ id: created.id, version: 2, createdAt: created.createdAt });
    expect(stored!.updatedAt.getTime()).toBeGreaterThan(created.updatedAt.getTime());
  });

  test('leaves only the values of `writeUnrecorded` out of the changes', async ({ database, tenantId, admin }) => {
    await database.transaction(tenantId, async (tx) => {
      (await tx.findOne(User, { id: admin.id }))!.settings = { n: 1 } as never;
    });
    let trips: string[][] = [];
    const changes = await database.transaction(tenantId, async (tx) => {
      const user = (await tx.findOne(User, { id: admin.id }))!;
      trips = await recordRoundTrips(async () => {
        (user.settings as unknown as { n: number }).n = 2;
        tx.writeUnrecorded(user, { displayName: 'Unrecorded' });
        await tx.query({ text: 'select 1' });
      });
      return tx.changes();
    });
    expect(trips).toEqual([
      [expect.stringContaining('set "display_name" = $3, "updated_at" = $4, version'), 'select 1'],
    ]);
    expect(changes.map(({ fields, before }) => ({ fields, settings: before['settings'] }))).toEqual([
      { fields: ['settings', 'updatedAt'], settings: { n: 1 } },
    ]);
    const stored = await database.transaction(tenantId, (tx) => tx.findOne(User, { id: admin.id }));
    expect(stored).toMatchObject({ displayName: 'Unrecorded', settings: { n: 2 } });
  });

  test('writes changes within JSON values with the commit, after other changes of their row', async ({
    database,
    tenantId,
    admin,
  }) => {
    const load = async (tx: Transaction) => (await tx.findOne(User, { id: admin.id }))!;
    await database.transaction(tenantId, async (tx) => void ((await load(tx)).settings = { n: 1 } as never));
    const changes = await database.transaction(tenantId, async (tx) => {
      const user = await load(tx);
      (user.settings as unknown as { n: number }).n = 2;
      user.displayName = 'Earlier';
      await tx.query({ text: 'select 1' });
      return tx.changes();
    });
    expect(changes).toMatchObject([
      { fields: ['displayName', 'updatedAt', 'settings'], before: { settings: { n: 1 } } },
    ]);
    const stored = await database.transaction(tenantId, load);
    expect(stored).toMatchObject({ displayName: 'Earlier', settings: { n: 2 } });
  });

  test('writes nothing for equal values', async ({ database, tenantId, admin }) => {
    const settings = { b: [1, { c: null }], a: 'x' };
    const change = (work: (user: User) => void) =>
      recordRoundTrips(() =>
        database.transaction(tenantId, async (tx) => work((await tx.findOne(User, { id: admin.id }))!)),
      );
    await change((user) => (user.settings = settings as never));
    const trips = await change((user) => {
      user.settings = { a: 'x', b: [1, { c: null }] } as never;
      user.createdAt = new Date(user.createdAt);
      user.displayName ??= null as never;
    });
    expect(trips.at(-1)).toEqual(['commit']);
    const nested = await change((user) => ((user.settings as never as typeof settings).b[0] = 2));
    expect(nested.at(-1)).toEqual([expect.stringContaining('"settings" = $3'), 'commit']);
  });

  test('knows a row by its id, and does not load secrets', async ({ database, tenantId, admin }) => {
    await database.transaction(tenantId, async (tx) => {
      const [user] = await tx.find(User, { username: admin.username });
      const trips = await recordRoundTrips(async () => expect(await tx.findOne(User, { id: admin.id })).toBe(user));
      expect(trips).toEqual([]);
      expect(await tx.findOne(User, { id: admin.id }, { lock: 'update' })).toBe(user);
      expect(user!.passwordHash).toBeUndefined();
    });
    const [stored] = await database.query(tenantId, {
      text: 'select password_hash is not null as "isKept" from dws.app_user where id = $1',
      values: [admin.id],
    });
    expect(stored).toEqual({ isKept: true });
  });

  test('sees its own changes, in the order of the code', async ({ database, tenantId }) => {
    await database.transaction(tenantId, async (tx) => {
      const tag = tx.insert(tagOf(tenantId, 'ordered'));
      expect(await tx.count(Tag, { name: 'ordered' })).toBe(1);
      tag.name = 'renamed';
      tx.execute({ text: `update dws.tag set name = name || '!' where id = $1`, values: [tag.id] });
      expect(nameOf(await tx.findOne(Tag, { id: tag.id }, { lock: 'update' }))).toBe('renamed!');
      tx.remove(tag);
      expect(await tx.findOne(Tag, { id: tag.id })).toBeNull();
      expect(tx.changes(), 'nothing is left of the row').toEqual([]);
    });
  });

  const copyOf = (tag: Tag): Tag => newRow(Tag, { ...tag, version: 1 });
  test.for<[string, (tx: Transaction, tag: Tag) => Tag]>([
    ['the same row', (tx, tag) => tx.insert(tag)],
    ['the same row after a flush', (tx, tag) => (tx.flush(), tx.insert(tag))],
    ['another object after a flush', (tx, tag) => (tx.flush(), tx.insert(copyOf(tag)))],
    [
      'the third object after flushes',
      (tx, tag) => {
        tx.flush();
        const second = tx.insert(copyOf(tag));
        tx.flush();
        tx.remove(second);
        tx.flush();
        return tx.insert(copyOf(tag));
      },
    ],
  ])(
    'writes a row that is created again after its deletion: %s',
    async ([how, insertAgain], { database, tenantId }) => {
      const { id } = await database.transaction(tenantId, async (tx) => tx.insert(tagOf(tenantId, `old ${how}`)));
      const changes = await database.transaction(tenantId, async (tx) => {
        const tag = (await tx.findOne(Tag, { id }, { lock: 'update' }))!;
        // Its result precedes the deletion.
        const sentBefore = tx.find(Tag, { id });
        tx.remove(tag);
        const again = insertAgain(tx, tag);
        again.name = `new ${how}`;
        tx.flush();
        await sentBefore;
        expect(await tx.findOne(Tag, { id })).toBe(again);
        expect(again.name).toBe(`new ${how}`);
        again.color = '#00ff00';
        return tx.changes();
      });
      expect(changes).toMatchObject([
        { type: 'update', row: { id, color: '#00ff00' }, before: { name: `old ${how}`, color: null } },
      ]);
      const stored = await database.transaction(tenantId, (tx) => tx.find(Tag, { id }));
      expect(stored).toMatchObject([{ name: `new ${how}`, color: '#00ff00' }]);
    },
  );

  test('records a deletion of a row that was deleted and created again', async ({ database, tenantId }) => {
    const { id } = await database.transaction(tenantId, async (tx) => tx.insert(tagOf(tenantId, 'gone twice')));
    const changes = await database.transaction(tenantId, async (tx) => {
      const tag = (await tx.findOne(Tag, { id }, { lock: 'update' }))!;
      tx.remove(tag);
      tx.flush();
      tx.insert(tag);
      tx.flush();
      tx.remove(tag);
      return tx.changes();
    });
    expect(changes).toMatchObject([{ type: 'delete', row: { id } }]);
    expect(await database.transaction(tenantId, (tx) => tx.count(Tag, { id }))).toBe(0);
  });

  test('writes no changes of a row that a statement found before its deletion', async ({ database, tenantId }) => {
    const { id } = await database.transaction(tenantId, async (tx) => tx.insert(tagOf(tenantId, 'found late')));
    await database.transaction(tenantId, async (tx) => {
      const tag = (await tx.findOne(Tag, { id }, { lock: 'update' }))!;
      const sentBefore = tx.find(Tag, { id });
      tx.remove(tag);
      tx.flush();
      const [late] = await sentBefore;
      late!.name = 'back';
      expect(await tx.findOne(Tag, { id })).toBeNull();
      expect(tx.changes()).toMatchObject([{ type: 'delete' }]);
    });
  });
});

describe('a transaction', () => {
  test('sends the statements of one tick together', async ({ database, tenantId }) => {
    const select = (tx: Transaction, n: number) => tx.query({ text: 'select $1::int as n', values: [n] });
    const trips = await recordRoundTrips(() =>
      database.transaction(tenantId, async (tx) => {
        expect(await Promise.all([1, 2, 3].map((n) => select(tx, n)))).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
        tx.execute({ text: 'select 4' });
      }),
    );
    expect(trips.map((texts) => texts.map((text) => text.slice(0, 8)))).toEqual([
      ['begin', 'select $', 'select $', 'select $'],
      ['select 4', 'commit'],
    ]);
  });

  test('fails with the first error, even of a statement that is not awaited', async ({ database, tenantId }) => {
    const failing = database.transaction(tenantId, async (tx) => {
      tx.insert(tagOf(tenantId, 'undone'));
      tx.execute({ text: 'select 1 / 0' });
      await tx.query({ text: 'select 2' }).catch(() => {});
      await tx.query({ text: 'select 3' }).catch(() => {});
    });
    await expect(failing).rejects.toThrow('division by zero');
    expect(await database.transaction(tenantId, (tx) => tx.count(Tag, { name: 'undone' }))).toBe(0);
  });

  test('sends nothing after its work has failed', async ({ database, tenantId }) => {
    const select = { text: 'select 1' };
    const failing = database.transaction(tenantId, async (tx) => {
      const fail = async () => {
        await tx.query(select);
        throw new Error('stop');
      };
      const goOn = async () => {
        await tx.query(select);
        tx.insert(tagOf(tenantId, 'late'));
        await tx.query(select);
      };
      await Promise.all([fail(), goOn()]);
    });
    await expect(failing).rejects.toThrow('stop');
    expect(await database.transaction(tenantId, (tx) => tx.count(Tag, { name: 'late' }))).toBe(0);
  });

  test('keeps no connection if its work fails before the first statement is sent', async ({ database, tenantId }) => {
    const failing = database.transaction(tenantId, async (tx) => {
      tx.query({ text: 'select 1' }).catch(() => {});
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect(await database.query(tenantId, { text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  test('commits what its work does not wait for', async ({ database, tenantId }) => {
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blocking = database.transaction(tenantId, async (tx) => {
      await tx.query({ text: 'select 1' });
      begun.resolve();
      await goOn.promise;
    });
    await begun.promise;
    const patient = database.transaction(tenantId, async (tx) => {
      tx.insert(tagOf(tenantId, 'patient'));
      tx.query({ text: 'select 1' }).catch(() => {});
    });
    goOn.resolve();
    await Promise.all([blocking, patient]);
    expect(await database.transaction(tenantId, (tx) => tx.count(Tag, { name: 'patient' }))).toBe(1);
  });

  test('sets its connection to its tenant, and back if it fails', async ({ database, service, tenantId }) => {
    const [{ id: other }] = (await systemQuery<{ id: string }>(
      service,
      `select id from dws.tenant where slug = 'other'`,
    )) as [{ id: string }];
    const tenantNow = async (id: string) =>
      (await database.query<{ now: string }>(id, { text: `select current_setting('app.tenant') as now` }))[0]!.now;
    expect(await tenantNow(tenantId)).toBe(tenantId);
    const failing = database.transaction(other, async (tx) => {
      await tx.query({ text: 'select 1' });
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect(await tenantNow(tenantId)).toBe(tenantId);
    await expect(database.query(other, { text: 'select 1 / 0' })).rejects.toThrow('division by zero');
    expect(await tenantNow(tenantId)).toBe(tenantId);
    expect(await tenantNow(other)).toBe(other);
  });

  test('runs again if others take its slug first', async ({ admin, ann, bob, service }) => {
    const callers = [admin, ann, bob].flatMap((caller) => Array.from({ length: 6 }, () => caller));
    let reports: { slug: string }[] = [];
    const events = await recordEvents(service, async () => {
      const created = callers.map((caller) => caller.creates('/reports', { name: 'Same name' }));
      reports = (await Promise.all(created)) as typeof reports;
    });
    const numbers = reports.map(({ slug }) => Number(/^same-name-?(\d*)$/.exec(slug)![1] || 1));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(callers.map((_, index) => index + 1));
    expect(events.filter(({ action }) => action === 'createReport')).toHaveLength(callers.length);
    expect(new Set(events.map(({ resourceId }) => resourceId)).size).toBe(callers.length);
  });
});

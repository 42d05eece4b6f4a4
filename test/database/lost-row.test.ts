import { describe, expect } from 'vitest';
import { Activity } from '../../entities/activity.ts';
import { AppLog } from '../../entities/app-log.ts';
import { AuditEvent } from '../../entities/audit-event.ts';
import { Tag } from '../../entities/tag.ts';
import { Tenant } from '../../entities/tenant.ts';
import { UsageEvent } from '../../entities/usage-event.ts';
import { WebhookCall } from '../../entities/webhook-call.ts';
import { ENTITIES } from '../../src/adapters/database/entity-list.ts';
import { EntityTable, LOST_ROW } from '../../src/adapters/database/entity-table.ts';
import { newId } from '../../src/core/id.ts';
import type { StoredRow, Transaction } from '../../src/core/platform.ts';
import { systemQuery } from '../support/system-query.ts';
import { tagOf, test } from './transaction-fixture.ts';

/** Entities whose rows transactions of tenants may not update and delete. */
const UNCHANGED: ReadonlySet<unknown> = new Set([Activity, AppLog, AuditEvent, Tenant, UsageEvent, WebhookCall]);
const CHANGED_ENTITIES = ENTITIES.filter((entity) => !UNCHANGED.has(entity));

describe('a row that another transaction deletes between read and write', () => {
  const writes = {
    'an update': (_: Transaction, tag: Tag) => void (tag.color = '#000000'),
    'an unrecorded update': (tx: Transaction, tag: Tag) => tx.writeUnrecorded(tag, { color: '#000000' }),
    'a deletion': (tx: Transaction, tag: Tag) => tx.remove(tag),
  };

  test.for(Object.entries(writes))(
    'undoes %s with its transaction, which runs again',
    async ([name, write], { database, service, tenantId }) => {
      const { id } = await database.transaction(tenantId, async (tx) => tx.insert(tagOf(tenantId, `lost by ${name}`)));
      const found: (string | undefined)[] = [];
      await database.transaction(tenantId, async (tx) => {
        const tag = await tx.findOne(Tag, { id });
        found.push(tag?.id);
        if (!tag) return;
        await systemQuery(service, 'delete from dws.tag where id = $1', id);
        tx.insert(tagOf(tenantId, `beside ${name}`));
        write(tx, tag);
      });
      expect(found).toEqual([id, undefined]);
      expect(await database.transaction(tenantId, (tx) => tx.count(Tag, { name: `beside ${name}` }))).toBe(0);
    },
  );

  test('fails the next statement if it is written before the commit', async ({ database, service, tenantId }) => {
    const { id } = await database.transaction(tenantId, async (tx) => tx.insert(tagOf(tenantId, 'flushed')));
    const later: string[] = [];
    await database.transaction(tenantId, async (tx) => {
      const tag = await tx.findOne(Tag, { id });
      if (!tag) return;
      await systemQuery(service, 'delete from dws.tag where id = $1', id);
      tag.color = '#000000';
      await tx.query({ text: 'select 1' });
      later.push('reached');
    });
    expect(later).toEqual([]);
  });

  test.for(CHANGED_ENTITIES)('fails the statement if it is a row of $name', async (entity, { database, tenantId }) => {
    const table = new EntityTable(database.metadata.get(entity as never));
    const row = { tenantId, id: newId() } as StoredRow;
    for (const statement of [table.update(row, []), table.delete(row)])
      await expect(database.query(tenantId, statement)).rejects.toMatchObject({ code: LOST_ROW });
  });
});

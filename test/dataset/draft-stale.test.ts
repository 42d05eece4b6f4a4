import { describe, expect } from 'vitest';
import { EXPENSIVE, expectOk, isStale, test } from './draft-fixture.ts';

describe('a draft is stale', () => {
  test('when the definition of its dataset has changed, not when the rows have', async ({
    ann,
    shop,
    source,
    createOrders,
  }) => {
    const parent = await createOrders({ query: 'select * from orders' });
    await ann.post(`${parent.path}/_edit`);
    const isStaleAfter = async (input: object, back: object) => {
      await expectOk(ann.put(parent.path, input));
      const stale = await isStale(ann, parent);
      await expectOk(ann.put(parent.path, back));
      return [stale, await isStale(ann, parent)];
    };
    expect(await isStaleAfter({ settings: { color: 'blue' } }, { settings: { color: 'red' } })).toEqual([true, false]);
    expect(await isStaleAfter({ flow: EXPENSIVE }, { flow: [] })).toEqual([true, false]);
    expect(await isStaleAfter({ query: 'select 1' }, { query: 'select * from orders' })).toEqual([true, false]);
    expect(
      await isStaleAfter(
        { query: 'select {{x}}::int', params: [{ name: 'x', dataType: 'number', defaultValue: 1 }] },
        { query: 'select * from orders', params: [] },
      ),
    ).toEqual([true, false]);
    expect(
      await isStaleAfter({ fields: [{ name: 'id', label: 'Number' }] }, { fields: [{ name: 'id', label: null }] }),
    ).toEqual([true, false]);
    expect(
      await isStaleAfter(
        { fields: [{ name: 'id', description: 'x' }] },
        { fields: [{ name: 'id', description: null }] },
      ),
    ).toEqual([true, false]);
    expect(await isStaleAfter({ name: 'Renamed', description: 'x', tags: [] }, { name: 'Orders' })).toEqual([
      false,
      false,
    ]);
    const saved = await ann.creates('/queries', {
      name: 'Follow',
      datasourceId: source.id,
      query: 'select * from orders',
    });
    expect(await isStaleAfter({ queryId: saved.id }, { queryId: null })).toEqual([true, false]);
    expect(
      (await ann.data(`{ datasets(limit: 1000) { items { stale } } }`)).datasets.items.every(
        ({ stale }: { stale: boolean }) => !stale,
      ),
    ).toBe(true);

    await shop.sql('alter table orders add extra integer, drop note');
    await expectOk(ann.post(`${parent.path}/_refresh`, {}));
    expect(await isStale(ann, parent)).toBe(false);
    await expectOk(ann.put(parent.path, { fields: [{ name: 'extra', label: 'More' }] }));
    expect(await isStale(ann, parent)).toBe(true);
    await shop.sql('alter table orders drop extra, add note text');
    expect((await ann.put(parent.draft, {})).body.stale).toBe(false);
  });
});

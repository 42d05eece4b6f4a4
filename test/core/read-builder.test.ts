import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/core/errors.ts';
import { checkLimit, checkStart } from '../../src/core/read/list-arguments.ts';
import type { Model } from '../../src/core/read/model.ts';
import { selectPaths } from '../../src/core/read/selection.ts';
import {
  childrenStatement,
  countStatement,
  manyStatement,
  oneStatement,
  pageStatement,
} from '../../src/core/read/statement.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { normalizeSql } from '../support/normalize-sql.ts';
import { job, person, step, superuser, viewer } from './read-models.ts';

const ID = '0190a0a0-0000-7000-8000-000000000001';

/** Returns the status and message of an error, or `none`. */
function errorOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('statements', () => {
  const list = { args: {}, limit: 30, start: 0 };

  test('a page selects its rows by tenant and access, in a total order', () => {
    const { text, values } = pageStatement(selectPaths(job, ['name']), viewer(), list, false);
    expect(text).toBe(
      normalizeSql(`
        select p."id" as "id", p."name" as "name", p."version" as "version"
        from (
          select * from "t"."job" r
          where r."tenant_id" = $1 and (owner_id = any($2))
          order by r."name", r.id
          limit 30
        ) p
        order by p."name", p.id
      `),
    );
    expect(values).toEqual(['t1', ['user:u1', 'team:g1']]);
  });

  test('a computed column is computed for the rows of the page only, and cannot be a condition', () => {
    const { text } = pageStatement(selectPaths(job, ['stepCount']), superuser, list, false);
    expect(text).toBe(
      normalizeSql(`
        select
          p."id" as "id",
          (select count(*)::int from t.step s where s.job_id = p.id) as "stepCount",
          p."version" as "version"
        from (select * from "t"."job" r where r."tenant_id" = $1 order by r."name", r.id limit 30) p
        order by p."name", p.id
      `),
    );
    expect(oneStatement(selectPaths(step, ['job.stepCount']), superuser, ID).text).toContain(
      normalizeSql(`
        (
          select p."id" as "id", (select count(*)::int from t.step s where s.job_id = p.id) as "stepCount"
          from (select * from "t"."job" r
      `),
    );
    expect(() => oneStatement(selectPaths(job, []), superuser, { stepCount: 1 })).toThrow(
      'Job has no column "stepCount"',
    );
  });

  test('the total has the conditions of the page and is in the same statement', () => {
    const { text } = pageStatement(selectPaths(job, []), viewer(), { ...list, args: { q: 'x' } }, true);
    expect(text).toContain(
      normalizeSql(`
        (
          select count(*)::int from "t"."job" r
          where r."tenant_id" = $1 and (owner_id = any($2)) and (r."name" ilike $3 or r."data" ilike $4)
        ) as "@total"
      `),
    );
  });

  test('a relation has its own tenant and access conditions; each value is bound once', () => {
    const { text, values } = oneStatement(selectPaths(job, ['owner.name', 'steps.job.name']), viewer(), 'nightly');
    expect(text).toContain(
      normalizeSql(`
        left join lateral (
          select p."id" as "id", p."name" as "name"
          from (select * from "t"."person" r where r."tenant_id" = $1 and (r.id = p."owner_id")) p
        ) _0 on true
      `),
    );
    expect(text).toContain(
      normalizeSql(`
        from (
          select * from "t"."step" r
          where r."tenant_id" = $1 and (r."job_id" = p.id) and (author_id = $4)
          order by r."position", r.id
          limit 50
        ) p
      `),
    );
    expect(text).toContain(
      normalizeSql(`
        from (
          select * from "t"."job" r
          where r."tenant_id" = $1 and (r.id = p."job_id") and (owner_id = any($5))
        ) p
      `),
    );
    expect(values).toEqual(['t1', 'nightly', ['user:u1', 'team:g1'], 'u1', ['user:u1', 'team:g1']]);
  });

  test('the statement of a viewer who may read all rows has no access filter', () => {
    expect(manyStatement(selectPaths(job, ['steps']), superuser, ['a', 'b'])).toMatchObject({
      text: expect.not.stringMatching(/owner_id = any|author_id/) as string,
      values: ['t1', ['a', 'b']],
    });
  });

  test('a row is found by id, key and natural id of the viewer’s tenant', () => {
    const one = (model: Model, key: string) => oneStatement(selectPaths(model, []), superuser, key);
    const id = '0190a0a0-0000-7000-8000-000000000001';
    expect(one(job, id)).toMatchObject({ text: expect.stringContaining('(r.id = $2)') as string, values: ['t1', id] });
    expect(one(job, 'nightly').values).toEqual(['t1', 'nightly']);
    expect(one(job, 'acme:nightly').values).toEqual(['t1', 'nightly']);
    expect(one(job, 'other:nightly').values).toEqual(['t1', 'other:nightly']);
    expect(one(person, 'Ann').text).toContain('(lower(r."name") = lower($2))');
    expect(one(step, 'title')).toMatchObject({ text: expect.stringContaining('(false)') as string, values: ['t1'] });
    expect(one(job, 'a\0b')).toMatchObject({ text: expect.stringContaining('(false)') as string, values: ['t1'] });
  });

  test('values that are not UUIDs match no row of a UUID column', () => {
    const where = (ownerId: string | null | string[]) =>
      pageStatement(selectPaths(job, []), superuser, { ...list, where: { ownerId } }, false);
    expect(where('nonsense')).toMatchObject({ text: expect.stringContaining('and (false)') as string, values: ['t1'] });
    expect(where(null).text).toContain('(r."owner_id" is null)');
    expect(where(['nonsense', '0190a0a0-0000-7000-8000-000000000001']).values).toEqual([
      't1',
      ['0190a0a0-0000-7000-8000-000000000001'],
    ]);
  });

  test('a search is literal', () => {
    expect(pageStatement(selectPaths(job, []), superuser, { ...list, args: { q: '50%_\\' } }, false).values).toEqual([
      't1',
      '%50\\%\\_\\\\%',
      '%50\\%\\_\\\\%',
    ]);
  });

  test('limits are literals, offsets are parameters', () => {
    const { text, values } = pageStatement(
      selectPaths(job, []),
      superuser,
      { args: { sort: '-createdAt,name' }, limit: 5, start: 10 },
      false,
    );
    expect(text).toContain(
      'order by r."created_at" desc, r."name", r.id limit 5 offset $2) p order by p."created_at" desc, p."name", p.id',
    );
    expect(values).toEqual(['t1', 10]);
  });

  test('an order is printed over the rows that are found and over the page, with the same values', () => {
    const graded: Model = {
      ...job,
      sortable: { name: (row) => `coalesce(${row}."name", 'r.none')` },
      sortAccess: {
        name: ({ userId }, row) => ({
          sql: `exists (select from t.grade r where r.job_id = ${row}.id and r.user_id = ?)`,
          params: [userId],
        }),
      },
    };
    const part = { args: { sort: '-name' }, limit: 5, start: 10 };
    const { text, values } = pageStatement(selectPaths(graded, []), superuser, part, false);
    const order = (row: string) =>
      `order by case when exists (select from t.grade r where r.job_id = ${row}.id and r.user_id = $3) ` +
      `then coalesce(${row}."name", 'r.none') end desc nulls last, ${row}.id desc`;
    expect(text).toContain(`${order('r')} limit 5 offset $2) p ${order('p')}`);
    expect(values).toEqual(['t1', 10, superuser.userId]);
  });

  test('timestamps are selected as ISO text', () => {
    expect(oneStatement(selectPaths(job, ['createdAt']), superuser, 'x').text).toContain(
      `to_char(p."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"`,
    );
  });

  test('the children of all parents are one statement, each parent with its own part and total', () => {
    const { text, values } = childrenStatement(
      job,
      'steps',
      selectPaths(step, ['title']),
      viewer(),
      ['a', 'b'],
      { args: {}, limit: 3, start: 2 },
      true,
    );
    expect(text).toBe(
      normalizeSql(`
        select
          p.id as parent,
          (select coalesce(json_agg(_rows), '[]') from (
            select p."id" as "id", p."title" as "title"
            from (
              select * from "t"."step" r
              where r."tenant_id" = $1 and (r."job_id" = p.id) and (author_id = $2)
              order by r."position", r.id
              limit 3 offset $4
            ) p
            order by p."position", p.id
          ) _rows) as items,
          (
            select count(*)::int from "t"."step" r
            where r."tenant_id" = $1 and (r."job_id" = p.id) and (author_id = $2)
          ) as total
        from "t"."job" p
        where p."tenant_id" = $1 and p.id = any($3)
      `),
    );
    expect(values).toEqual(['t1', 'u1', ['a', 'b'], 2]);
  });

  test('a count alone reads no rows', () => {
    expect(countStatement(job, superuser, { args: { ownerId: 'x' } as object })).toMatchObject({
      text: 'select (select count(*)::int from "t"."job" r where r."tenant_id" = $1 and (owner_id = $2)) as total',
      values: ['t1', 'x'],
    });
  });
});

describe('cached texts', () => {
  const page = (who: Viewer, args = {}) =>
    pageStatement(selectPaths(job, ['name', 'owner.name', 'steps.title']), who, { args, limit: 7, start: 0 }, true);

  test('a text is the same for all viewers with equal access filters', () => {
    const { text } = page(viewer());
    expect(page(viewer({ principals: ['user:u2'] })).text).toBe(text);
    expect(page(viewer({ userId: 'u3' }))).toMatchObject({ text, values: ['t1', ['user:u1', 'team:g1'], 'u3'] });
  });

  test('different access filters, filters, searches and sorts are different texts', () => {
    const texts = [
      page(viewer()),
      page(superuser),
      page(viewer(), { q: 'a' }),
      page(viewer(), { ownerId: 'a' }),
      page(viewer(), { sort: '-name' }),
    ].map(({ text }) => text);
    expect(new Set(texts).size).toBe(5);
  });

  test('a hostile sort never finds the text of another sort', () => {
    page(viewer(), { sort: 'name' });
    for (const sort of ['name" 1', 'name 1', 'name"', ' '])
      expect(errorOf(() => page(viewer(), { sort }))).toContain('400');
  });
});

describe('arguments', () => {
  test('limits and starts out of bounds are errors', () => {
    expect(checkLimit(undefined, 30)).toBe(30);
    expect(checkLimit(null, 30)).toBe(30);
    expect(checkLimit(1, 30)).toBe(1);
    expect(checkLimit(1000, 30)).toBe(1000);
    for (const limit of [0, -1, 1001, 1.5, NaN])
      expect(errorOf(() => checkLimit(limit, 30))).toBe('400 limit must be a whole number from 1 to 1000');
    expect(checkStart(null)).toBe(0);
    expect(checkStart(0)).toBe(0);
    expect(checkStart(7)).toBe(7);
    for (const start of [-1, 0.5])
      expect(errorOf(() => checkStart(start))).toBe('400 start must be a whole number from 0');
  });

  test('the error of an unknown sort names it', () => {
    const sorted = (sort: string) =>
      errorOf(() => pageStatement(selectPaths(job, []), superuser, { args: { sort }, limit: 30, start: 0 }, false));
    expect(sorted('name,-createdAt')).toBe('none');
    expect(sorted('name,secret')).toBe('400 Cannot sort by "secret"; known are name, createdAt');
    expect(sorted('ownerId')).toContain('Cannot sort by "ownerId"');
    expect(sorted('constructor')).toContain('Cannot sort by "constructor"');
    expect(sorted('name,'.repeat(200))).toBe('400 sort must have at most 500 characters');
  });
});

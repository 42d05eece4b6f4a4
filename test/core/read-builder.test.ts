import { buildSchema, execute, parse, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/core/errors.ts';
import { checkLimit, checkStart } from '../../src/core/read/list-arguments.ts';
import { lookAhead, type SelectionInfo } from '../../src/core/read/look-ahead.ts';
import { toMany, toOne, type Model } from '../../src/core/read/model.ts';
import { selectPaths, type Selection } from '../../src/core/read/selection.ts';
import {
  childrenStatement,
  countStatement,
  manyStatement,
  oneStatement,
  pageStatement,
} from '../../src/core/read/statement.ts';
import type { Viewer } from '../../src/core/viewer.ts';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Person implements Node { id: ID! name: String label: String jobs: [Job!]! }
  type Job implements Node { id: ID! name: String data: String createdAt: String label: String owner: Person steps: [Step!]! latest(limit: Int = 3): [Step!]! stepPage(limit: Int): StepPage }
  type Step implements Node { id: ID! title: String job: Job }
  type StepPage { items: [Step!]! total: Int }
  type JobPage { items: [Job!]! total: Int start: Int count: Int }
  type Query { jobs: JobPage job: Job node: Node }
`);
(schema.getType('Person') as GraphQLObjectType).getFields().label!.extensions = { requires: ['name'] };

const text = (column: string) => ({ column, type: 'text', nullable: false }) as const;
const uuid = (column: string) => ({ column, type: 'uuid', nullable: false }) as const;
const basics = {
  tenantColumn: 'tenant_id',
  required: {},
  searchedFields: ['name'],
  sortable: { name: 'r."name"' },
  defaultSort: 'name',
  filters: {},
  relations: {},
};

const person: Model = {
  ...basics,
  name: 'Person',
  label: 'person',
  table: '"t"."person"',
  columns: { id: uuid('id'), name: text('name') },
  key: { field: 'name', ignoreCase: true },
  relations: { jobs: toMany(() => job, 'owner_id', 'name') },
};
const job: Model = {
  ...basics,
  name: 'Job',
  label: 'job',
  table: '"t"."job"',
  key: { field: 'name', ignoreCase: false },
  searchedFields: ['name', 'data'],
  columns: {
    id: uuid('id'),
    name: text('name'),
    data: text('data'),
    ownerId: uuid('owner_id'),
    stepCount: {
      column: 'stepCount',
      type: 'integer',
      nullable: false,
      sql: '(select count(*)::int from t.step s where s.job_id = p.id)',
    },
    version: { column: 'version', type: 'integer', nullable: false },
    createdAt: { column: 'created_at', type: 'timestamp', nullable: false },
  },
  sortable: { name: 'r."name"', createdAt: 'r."created_at"' },
  relations: {
    owner: toOne(() => person, 'owner_id'),
    steps: toMany(() => step, 'job_id', 'position', 50),
    latest: toMany(() => step, 'job_id', '-position'),
    stepPage: toMany(() => step, 'job_id', 'position'),
  },
  required: { label: ['data', 'owner.name'] },
  accessFilter: ({ superuser, principals }) => (superuser ? null : { sql: 'owner_id = any(?)', params: [principals] }),
  filters: { ownerId: (value) => ({ sql: 'owner_id = ?', params: [value] }) },
};
const step: Model = {
  ...basics,
  name: 'Step',
  label: 'step',
  table: '"t"."step"',
  columns: { id: uuid('id'), title: text('title'), position: { column: 'position', type: 'integer', nullable: false } },
  sortable: { title: 'r."title"' },
  defaultSort: 'title',
  searchedFields: ['title'],
  relations: { job: toOne(() => job, 'job_id') },
  accessFilter: ({ superuser, userId }) => (superuser ? null : { sql: 'author_id = ?', params: [userId] }),
};

const viewer = (more: Partial<Viewer> = {}): Viewer => ({
  userId: 'u1',
  username: 'ann',
  tenantId: 't1',
  tenant: 'acme',
  superuser: false,
  principals: ['user:u1', 'team:g1'],
  teamRoles: {},
  permissions: new Set(),
  authMethod: 'session',
  scopes: new Set(['read']),
  credentialId: 'c1',
  expiresAt: null,
  ...more,
});
const root = viewer({ superuser: true });

/** The `info` that the resolver of the first root field gets. */
function infoOf(source: string, variableValues = {}): SelectionInfo {
  let info: GraphQLResolveInfo | undefined;
  void execute({
    schema,
    document: parse(source),
    variableValues,
    fieldResolver: (_source, _args, _context, given) => void (info ??= given),
  });
  return info!;
}

/** A selection in short: `name owner(id name)`. */
const inShort = ({ columns, relations }: Selection): string =>
  [...columns, ...relations.map(([name, below]) => `${name}(${inShort(below)})`)].join(' ');
const picked = (source: string, model: Model = job, path = '') =>
  inShort(lookAhead(infoOf(source), model, path).selection);

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('look-ahead', () => {
  test('selects the columns that are asked for, with id and version', () => {
    expect(picked('{ job { name } }')).toBe('id name version');
  });

  test('merges repeated fields, fragments and inline fragments', () => {
    expect(
      picked(
        '{ job { owner { name } ...A ... on Job { data } ... on Person { label } } job { steps { id } } } fragment A on Node { id ... on Job { owner { id } steps { title } } }',
      ),
    ).toBe('data id version owner(id name) steps(id title)');
  });

  test('ignores directives, so that the answer does not depend on variables', () => {
    expect(picked('query ($no: Boolean = false) { job { name @include(if: $no) ... @skip(if: true) { data } } }')).toBe(
      'data id name version',
    );
  });

  test('reads what lies below a page and says what else the page selects', () => {
    const { selection, pageFields: around } = lookAhead(
      infoOf('{ jobs { total __typename ...P } } fragment P on JobPage { items { name } items { data } }'),
      job,
      'items',
    );
    expect(inShort(selection)).toBe('data id name version');
    expect([...around].toSorted()).toEqual(['__typename', 'items', 'total']);
  });

  test('adds what computed fields need, said by the model or above the resolver', () => {
    expect(picked('{ job { label } }')).toBe('data id version owner(id name)');
    expect(picked('{ job { owner { label } } }')).toBe('id version owner(id name)');
  });

  test('reads a type behind an interface as the kind that was found', () => {
    expect(picked('{ node { id ... on Job { name } ... on Step { title } } }')).toBe('id name version');
  });

  test('leaves lists with arguments and pages to the loader', () => {
    expect(picked('{ job { latest { id } stepPage { items { id } } } }')).toBe('id version');
  });

  test('looks at a parsed document once', () => {
    const document = parse('{ job { name owner { name } } }');
    const infos: GraphQLResolveInfo[] = [];
    for (let i = 0; i < 2; i++)
      void execute({ schema, document, fieldResolver: (_s, _a, _c, info) => void infos.push(info) });
    expect(lookAhead(infos[0]!, job)).toBe(lookAhead(infos[1]!, job));
  });

  test('equal selections of different documents are one', () => {
    expect(lookAhead(infoOf('{ job { name data } }'), job).selection).toBe(
      lookAhead(infoOf('{ a: job { data other: name name } }'), job).selection,
    );
    expect(selectPaths(job, ['name', 'data'])).toBe(lookAhead(infoOf('{ job { name data } }'), job).selection);
  });

  test('a need that the model does not have is a mistake of ours', () => {
    expect(() => selectPaths(job, ['nonsense'])).toThrow('Job has neither a column nor a relation "nonsense"');
  });
});

describe('statements', () => {
  const list = { args: {}, limit: 30, start: 0 };

  test('a page picks its rows under tenant and rights, in a total order', () => {
    const { text, values } = pageStatement(selectPaths(job, ['name']), viewer(), list, false);
    expect(text).toBe(
      'select p."id" as "id", p."name" as "name", p."version" as "version" from (select * from "t"."job" r where r."tenant_id" = $1 and (owner_id = any($2)) order by r."name", r.id limit 30) p order by p."name", p.id',
    );
    expect(values).toEqual(['t1', ['user:u1', 'team:g1']]);
  });

  test('a computed column is computed for the rows of the page only, and cannot be compared with', () => {
    const { text } = pageStatement(selectPaths(job, ['stepCount']), root, list, false);
    expect(text).toBe(
      'select p."id" as "id", (select count(*)::int from t.step s where s.job_id = p.id) as "stepCount", p."version" as "version" from (select * from "t"."job" r where r."tenant_id" = $1 order by r."name", r.id limit 30) p order by p."name", p.id',
    );
    expect(
      oneStatement(selectPaths(step, ['job.stepCount']), root, '01900000-0000-7000-8000-000000000000').text,
    ).toContain(
      '(select p."id" as "id", (select count(*)::int from t.step s where s.job_id = p.id) as "stepCount" from (select * from "t"."job" r',
    );
    expect(() => oneStatement(selectPaths(job, []), root, { stepCount: 1 })).toThrow('Job has no column "stepCount"');
  });

  test('the total obeys the same conditions in the same statement', () => {
    const { text } = pageStatement(selectPaths(job, []), viewer(), { ...list, args: { q: 'x' } }, true);
    expect(text).toContain(
      '(select count(*)::int from "t"."job" r where r."tenant_id" = $1 and (owner_id = any($2)) and (r."name" ilike $3 or r."data" ilike $4)) as "@total"',
    );
  });

  test('what lies below has its own tenant and rights, one place for each value', () => {
    const { text, values } = oneStatement(selectPaths(job, ['owner.name', 'steps.job.name']), viewer(), 'nightly');
    expect(text).toContain(
      'left join lateral (select p."id" as "id", p."name" as "name" from (select * from "t"."person" r where r."tenant_id" = $1 and (r.id = p."owner_id")) p) _0 on true',
    );
    expect(text).toContain(
      'from (select * from "t"."step" r where r."tenant_id" = $1 and (r."job_id" = p.id) and (author_id = $4) order by r."position", r.id limit 50) p',
    );
    expect(text).toContain(
      'from (select * from "t"."job" r where r."tenant_id" = $1 and (r.id = p."job_id") and (owner_id = any($5))) p',
    );
    expect(values).toEqual(['t1', 'nightly', ['user:u1', 'team:g1'], 'u1', ['user:u1', 'team:g1']]);
  });

  test('who may read all has a statement without rights', () => {
    expect(manyStatement(selectPaths(job, ['steps']), root, ['a', 'b'])).toMatchObject({
      text: expect.not.stringMatching(/owner_id = any|author_id/) as string,
      values: ['t1', ['a', 'b']],
    });
  });

  test('a row is found by id, key and natural id of the own tenant', () => {
    const one = (model: Model, key: string) => oneStatement(selectPaths(model, []), root, key);
    const id = '0190a0a0-0000-7000-8000-000000000001';
    expect(one(job, id)).toMatchObject({ text: expect.stringContaining('(r.id = $2)') as string, values: ['t1', id] });
    expect(one(job, 'nightly').values).toEqual(['t1', 'nightly']);
    expect(one(job, 'acme:nightly').values).toEqual(['t1', 'nightly']);
    expect(one(job, 'other:nightly').values).toEqual(['t1', 'other:nightly']);
    expect(one(person, 'Ann').text).toContain('(lower(r."name") = lower($2))');
    expect(one(step, 'title')).toMatchObject({ text: expect.stringContaining('(false)') as string, values: ['t1'] });
    expect(one(job, 'a\0b')).toMatchObject({ text: expect.stringContaining('(false)') as string, values: ['t1'] });
  });

  test('values that a uuid column cannot hold match nothing', () => {
    const where = (ownerId: string | null | string[]) =>
      pageStatement(selectPaths(job, []), root, { ...list, where: { ownerId } }, false);
    expect(where('nonsense')).toMatchObject({ text: expect.stringContaining('and (false)') as string, values: ['t1'] });
    expect(where(null).text).toContain('(r."owner_id" is null)');
    expect(where(['nonsense', '0190a0a0-0000-7000-8000-000000000001']).values).toEqual([
      't1',
      ['0190a0a0-0000-7000-8000-000000000001'],
    ]);
  });

  test('a search takes its text literally', () => {
    expect(pageStatement(selectPaths(job, []), root, { ...list, args: { q: '50%_\\' } }, false).values).toEqual([
      't1',
      '%50\\%\\_\\\\%',
      '%50\\%\\_\\\\%',
    ]);
  });

  test('limits are literals, starts are values', () => {
    const { text, values } = pageStatement(
      selectPaths(job, []),
      root,
      { args: { sort: '-createdAt,name' }, limit: 5, start: 10 },
      false,
    );
    expect(text).toContain(
      'order by r."created_at" desc, r."name", r.id limit 5 offset $2) p order by p."created_at" desc, p."name", p.id',
    );
    expect(values).toEqual(['t1', 10]);
  });

  test('timestamps come as ISO text, also below', () => {
    expect(oneStatement(selectPaths(job, ['createdAt']), root, 'x').text).toContain(
      `to_char(p."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"`,
    );
  });

  test('children are read for all parents at once, each with its own part and total', () => {
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
      'select p.id as parent, (select coalesce(json_agg(_rows), \'[]\') from (select p."id" as "id", p."title" as "title" from (select * from "t"."step" r where r."tenant_id" = $1 and (r."job_id" = p.id) and (author_id = $2) order by r."position", r.id limit 3 offset $4) p order by p."position", p.id) _rows) as items, (select count(*)::int from "t"."step" r where r."tenant_id" = $1 and (r."job_id" = p.id) and (author_id = $2)) as total from "t"."job" p where p."tenant_id" = $1 and p.id = any($3)',
    );
    expect(values).toEqual(['t1', 'u1', ['a', 'b'], 2]);
  });

  test('a count alone reads no rows', () => {
    expect(countStatement(job, root, { args: { ownerId: 'x' } as object })).toMatchObject({
      text: 'select (select count(*)::int from "t"."job" r where r."tenant_id" = $1 and (owner_id = $2)) as total',
      values: ['t1', 'x'],
    });
  });
});

describe('kept texts', () => {
  const page = (who: Viewer, args = {}) =>
    pageStatement(selectPaths(job, ['name', 'owner.name', 'steps.title']), who, { args, limit: 7, start: 0 }, true);

  test('a statement is named from its second use on, the same for every viewer with the same rules', () => {
    expect(page(viewer()).name).toBeUndefined();
    const { name } = page(viewer({ principals: ['user:u2'] }));
    expect(name).toMatch(/^r[0-9a-f]{24}$/);
    expect(page(viewer({ userId: 'u3' }))).toMatchObject({ name, values: ['t1', ['user:u1', 'team:g1'], 'u3'] });
  });

  test('different rights, filters, searches and sorts are different texts', () => {
    const texts = [
      page(viewer()),
      page(root),
      page(viewer(), { q: 'a' }),
      page(viewer(), { ownerId: 'a' }),
      page(viewer(), { sort: '-name' }),
    ].map(({ text }) => text);
    expect(new Set(texts).size).toBe(5);
  });

  test('a hostile sort never finds the text of another', () => {
    page(viewer(), { sort: 'name' });
    for (const sort of ['name" 1', 'name 1', 'name"', ' '])
      expect(refusal(() => page(viewer(), { sort }))).toContain('400');
  });
});

describe('arguments', () => {
  test('limits and starts out of bounds are refused', () => {
    expect([checkLimit(undefined, 30), checkLimit(null, 30), checkLimit(1, 30), checkLimit(1000, 30)]).toEqual([
      30, 30, 1, 1000,
    ]);
    for (const limit of [0, -1, 1001, 1.5, NaN])
      expect(refusal(() => checkLimit(limit, 30))).toBe('400 limit must be a whole number from 1 to 1000');
    expect([checkStart(null), checkStart(0), checkStart(7)]).toEqual([0, 0, 7]);
    for (const start of [-1, 0.5, 2 ** 31])
      expect(refusal(() => checkStart(start))).toBe('400 start must be a whole number from 0');
  });

  test('an unknown sort is named', () => {
    const sorted = (sort: string) =>
      refusal(() => pageStatement(selectPaths(job, []), root, { args: { sort }, limit: 30, start: 0 }, false));
    expect(sorted('name,-createdAt')).toBe('accepted');
    expect(sorted('name,secret')).toBe('400 Cannot sort by "secret"; known are name, createdAt');
    expect(sorted('ownerId')).toContain('Cannot sort by "ownerId"');
    expect(sorted('constructor')).toContain('Cannot sort by "constructor"');
    expect(sorted('name,'.repeat(200))).toBe('400 sort must have at most 500 characters');
  });
});

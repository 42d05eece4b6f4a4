import { buildSchema, execute, parse, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import type { SelectionInfo } from '../../src/core/read/look-ahead.ts';
import { toMany, toOne, type Model } from '../../src/core/read/model.ts';
import type { Viewer } from '../../src/core/viewer.ts';

export const schema = buildSchema(`
  interface Node { id: ID! }
  type Person implements Node { id: ID! name: String label: String jobs: [Job!]! }
  type Job implements Node {
    id: ID!
    name: String
    data: String
    createdAt: String
    label: String
    owner: Person
    steps: [Step!]!
    latest(limit: Int = 3): [Step!]!
    stepPage(limit: Int): StepPage
  }
  type Step implements Node { id: ID! title: String job: Job }
  type StepPage { items: [Step!]! total: Int }
  type JobPage { items: [Job!]! total: Int start: Int count: Int }
  type Query { jobs: JobPage job: Job node: Node }
`);
(schema.getType('Person') as GraphQLObjectType).getFields().label!.extensions = { requires: ['name'] };

const text = (column: string) => ({ column, type: 'text', nullable: false }) as const;
const uuid = (column: string) => ({ column, type: 'uuid', nullable: false }) as const;
/** Properties that the models have in common. */
const basics = {
  tenantColumn: 'tenant_id',
  required: {},
  searchedFields: ['name'],
  sortable: { name: (row: string) => `${row}."name"` },
  defaultSort: 'name',
  filters: {},
  relations: {},
};

export const person: Model = {
  ...basics,
  name: 'Person',
  label: 'person',
  table: '"t"."person"',
  columns: { id: uuid('id'), name: text('name') },
  key: { field: 'name', ignoreCase: true },
  relations: { jobs: toMany(() => job, 'owner_id', 'name') },
};
export const job: Model = {
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
  sortable: { name: (row: string) => `${row}."name"`, createdAt: (row: string) => `${row}."created_at"` },
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
export const step: Model = {
  ...basics,
  name: 'Step',
  label: 'step',
  table: '"t"."step"',
  columns: { id: uuid('id'), title: text('title'), position: { column: 'position', type: 'integer', nullable: false } },
  sortable: { title: (row: string) => `${row}."title"` },
  defaultSort: 'title',
  searchedFields: ['title'],
  relations: { job: toOne(() => job, 'job_id') },
  accessFilter: ({ superuser, userId }) => (superuser ? null : { sql: 'author_id = ?', params: [userId] }),
};

export const viewer = (changes: Partial<Viewer> = {}): Viewer => ({
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
  ...changes,
});
/** May read all rows. */
export const superuser = viewer({ superuser: true });

/** Returns the `info` that the resolver of the first root field receives. */
export function infoOf(source: string, variableValues = {}): SelectionInfo {
  let info: GraphQLResolveInfo | undefined;
  void execute({
    schema,
    document: parse(source),
    variableValues,
    fieldResolver: (_source, _args, _context, fieldInfo) => void (info ??= fieldInfo),
  });
  return info!;
}

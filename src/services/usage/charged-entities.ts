import type { UsageEntityType } from '../../core/usage.ts';

/** A kind whose rows usage is charged to, with a budget. */
interface ChargedKind {
  type: UsageEntityType;
  /** Table in the schema `dws`. */
  table: string;
  /** Condition on a row `r` that is charged. Default: all rows. */
  condition?: string;
  /** SQL over a row `r` for the columns that its table lacks. */
  slug?: string;
  owner?: string;
}

/** The kinds with budgets. Their tables have a name and a monthly_budget. */
const CHARGED_KINDS: readonly ChargedKind[] = [
  { type: 'agent', table: 'agent', slug: 'r.id::text', owner: `'user:' || r.owner_id` },
  { type: 'app', table: 'app' },
  { type: 'assistant', table: 'assistant' },
  // A draft is charged to its job.
  { type: 'job', table: 'job', condition: 'r.parent_id is null' },
];

/** Types of the kinds with budgets, which `topApps` lists. */
export const CHARGED_TYPES: readonly UsageEntityType[] = CHARGED_KINDS.map(({ type }) => type);

/** SQL for the rows of all kinds with budgets, with the columns of a charged row and its `entity_type`. */
export const CHARGED_ROWS = `(${CHARGED_KINDS.map(
  ({ type, table, condition = 'true', slug = 'r.slug', owner = 'r.owner_id' }) => `
    select r.tenant_id, '${type}' as entity_type, r.id, r.name, ${slug} as slug, ${owner} as owner_id, r.monthly_budget
    from dws.${table} r
    where ${condition}`,
).join(' union all ')})`;

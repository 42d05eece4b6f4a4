import type { Context } from '../core/context.ts';
import { conflict } from '../core/errors.ts';
import { LEVEL } from '../core/permissions.ts';
import type { Transaction } from '../core/platform.ts';
import { levelOf, sharedLevels } from './rights.ts';

interface User extends Record<string, unknown> {
  id: string;
  kind: string;
  name: string;
  ownerId: string;
}

/** How many users of a resource an error names. */
const NAMED = 20;

/** Where a kind is used: selects of id, kind, name and owner by the tenant `$1` and the id `$2`. */
const USERS = {
  datasource: `select id, 'query' as kind, name, owner_id as "ownerId" from dws.saved_query where tenant_id = $1 and datasource_id = $2
    union all select id, 'dataset', name, owner_id from dws.dataset where tenant_id = $1 and datasource_id = $2`,
  query: `select id, 'dataset' as kind, name, owner_id as "ownerId" from dws.dataset where tenant_id = $1 and query_id = $2`,
};

/** 409 listing what uses a resource, by kind and name; of what the caller may not read only the number is told. */
export async function checkUnused(ctx: Context, tx: Transaction, kind: keyof typeof USERS, id: string): Promise<void> {
  const users = await tx.query<User>({ text: `${USERS[kind]} order by kind, name`, values: [ctx.viewer.tenantId, id] });
  if (users.length === 0) return;
  const shared = await sharedLevels(tx.query, ctx.viewer, users.map((user) => user.id));
  const visible = users.filter(({ ownerId }, i) => levelOf(ctx.viewer, ownerId) > LEVEL.none || shared[i]! > LEVEL.none).slice(0, NAMED);
  const others = users.length - visible.length;
  const parts = [...visible.map(({ kind: of, name }) => `${of} "${name}"`), ...(others > 0 ? [`${others} more`] : [])];
  throw conflict(`The ${kind} is in use by ${parts.join(', ')}`);
}

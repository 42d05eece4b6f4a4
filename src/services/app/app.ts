import { isDeepStrictEqual } from 'node:util';
import type { App } from '../../../entities/app.ts';
import { APP } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { load } from '../resource/load-resource.ts';
import { createOwned, updateOwned, type OwnedInput } from '../resource/owned-kind.ts';

export interface AppInput extends OwnedInput {
  /** Name to value; null takes a name out, what answers show in place of a value keeps it, other names stay. Null takes all out. */
  env?: Record<string, unknown> | null;
}

/** Makes an app, which is not deployed yet. Answers the id. */
export async function create(ctx: Context, { env, ...input }: AppInput): Promise<string> {
  const content = sealEnv(ctx, mergeEnv(new Map(), env ?? {}));
  return ctx.transaction(async (tx) => (await createOwned(ctx, tx, APP, input, content)).id);
}

/** Changes an app; a new environment counts from the next call of its code. Answers the id. */
export async function update(ctx: Context, id: string, { env, ...input }: AppInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const app = await load(ctx, tx, APP, id, 'app:write', { ifMatch: ctx.ifMatch });
    if (env !== undefined) {
      const former = await loadEnv(ctx, tx, app.id);
      const wanted = env === null ? new Map<string, string>() : mergeEnv(former, env);
      // The same sealed anew would look like a change.
      if (!isDeepStrictEqual(wanted, former)) Object.assign(app, sealEnv(ctx, wanted));
    }
    await updateOwned(ctx, tx, APP, app, input);
    return app.id;
  });
}

/** Deletes an app. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.em.remove(await load(ctx, tx, APP, id, 'app:delete', { ifMatch: ctx.ifMatch }));
  });
}

/** What answers show in place of a value. */
const MASK = '••••';

/** An environment as answers show it: all of its names, none of its values. */
export const maskEnv = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, MASK]));

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const MAX_NAMES = 100;
const MAX_VALUE_CHARACTERS = 10_000;

function mergeEnv(env: Map<string, string>, given: Record<string, unknown>): Map<string, string> {
  const changed = new Map(env);
  for (const [name, value] of Object.entries(given)) {
    if (!NAME.test(name)) throw invalid('env', `has a name that does not match ${NAME.source}`);
    if (value === null) changed.delete(name);
    else if (typeof value !== 'string' || value.length > MAX_VALUE_CHARACTERS)
      throw invalid(`env.${name}`, `must be a text of at most ${MAX_VALUE_CHARACTERS} characters, or null`);
    else if (value !== MASK) changed.set(name, value);
    else if (!changed.has(name)) throw invalid(`env.${name}`, 'has no value to keep');
  }
  if (changed.size > MAX_NAMES) throw invalid('env', `must have at most ${MAX_NAMES} names`);
  return changed;
}

async function loadEnv({ platform, viewer }: Context, tx: Transaction, id: string): Promise<Map<string, string>> {
  const [row] = await tx.query<{ env: string | null }>({
    text: `select env from dws.app where tenant_id = $1 and id = $2`,
    values: [viewer.tenantId, id],
  });
  return new Map(row?.env ? (JSON.parse(platform.secrets.open(row.env)) as [string, string][]) : []);
}

const sealEnv = ({ platform }: Context, env: Map<string, string>): Pick<App, 'env' | 'envNames'> => ({
  env: env.size > 0 ? platform.secrets.seal(JSON.stringify([...env])) : null,
  envNames: [...env.keys()].toSorted(),
});

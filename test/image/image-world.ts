import type { CreateImageInput } from '../../entities/image-input.ts';
import type { Context } from '../../src/core/context.ts';
import { newId } from '../../src/core/id.ts';
import type { OperationStatus } from '../../src/core/operations.ts';
import { create as createProvider } from '../../src/services/ai/ai-provider.ts';
import { createTenant, createUser } from '../../src/services/identity/bootstrap.ts';
import { requestImage } from '../../src/services/image/image-request.ts';
import { createJobContext } from '../../src/services/job/job-context.ts';
import type { AiFake } from '../../tools/ai-fake/fake-provider.ts';
import { rows, type World } from '../operation/fixture.ts';

const PASSWORD = 'correct horse battery';

/** Users of one tenant, with the fake as its provider. */
export async function createCallers(world: World, fake: AiFake, count: number): Promise<Context[]> {
  const { system } = world.platform;
  await createTenant(system, 'default');
  const admin = await contextOf(world, await createUser(system, 'default', 'admin', PASSWORD, true));
  await createProvider(admin, fake.provider as Parameters<typeof createProvider>[1]);
  const callers: Context[] = [];
  for (let index = 0; index < count; index += 1)
    callers.push(await contextOf(world, await createUser(system, 'default', `user-${index}`, PASSWORD, false)));
  return callers;
}

/** Returns the context of a user, without limit of time. */
async function contextOf(world: World, userId: string): Promise<Context> {
  const [user] = await rows(world, `select tenant_id as "tenantId" from dws.app_user where id = $1`, [userId]);
  return createJobContext(world.platform, String(user!.tenantId), `user:${userId}`, new AbortController().signal);
}

/** Requests an image without waiting for it. Returns the id of the operation. */
export async function request(ctx: Context, input: Partial<CreateImageInput> = {}): Promise<string> {
  const options = { assistant: null, progress: null, wait: false };
  return (await requestImage(ctx, { prompt: 'A fox', size: null, ...input }, options)).id;
}

/** Gives a user a cap. */
export async function setCap(world: World, { viewer }: Context, cap: number): Promise<void> {
  const id = newId();
  await rows(
    world,
    `with profile as (
      insert into dws.usage_profile (id, tenant_id, name, slug, description, credit_cap_per_month, allowed_model_tiers)
      values ($1, $2, 'Limited', $5, 'For a test', $3, '["everyday", "strategic"]')
      returning id
    )
    update dws.app_user set usage_profile_id = (select id from profile) where id = $4`,
    [id, viewer.tenantId, cap, viewer.userId, `p-${id}`],
  );
}

/** State after requests of images. */
export async function readState(world: World) {
  const read = (text: string) => rows(world, text) as Promise<Record<string, any>[]>;
  const [operations, reservations, calls, lines, images] = await Promise.all([
    read(`select id, user_id as "userId", status, error, input->>'callId' as "callId",
      input->>'imageId' as "imageId", (input->'price'->>'credits')::numeric::text as credits from dws.operation`),
    read(`select id from dws.credit_reservation`),
    read(`select id, status, credits::text, error from dws.ai_call`),
    read(`select key, actor, credits::text from dws.usage_event`),
    read(`select id, file_id as "fileId" from dws.image`),
  ]);
  return { operations, reservations, calls, lines, images };
}

/** Waits until no operation is queued or running. */
export async function untilIdle(world: World): Promise<void> {
  for (;;) {
    const open = await rows(world, `select from dws.operation where finished_at is null limit 1`);
    if (open.length === 0) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

export const statusesOf = (operations: readonly Record<string, any>[]): Partial<Record<OperationStatus, number>> =>
  Object.fromEntries(
    [...Map.groupBy(operations, ({ status }) => status as OperationStatus)].map(([status, all]) => [
      status,
      all.length,
    ]),
  );

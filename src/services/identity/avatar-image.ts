import { isAccountName } from '../../core/account-rules.ts';
import type { Context, PublicContext } from '../../core/context.ts';
import { badInput, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { isSlug } from '../../core/slug.ts';
import { defaultAvatar } from './default-avatar.ts';
import { IS_USER, userKeyValues } from './user-lookup.ts';

/** A picture with its bytes. */
export interface AvatarImage {
  contentType: string;
  bytes: Buffer;
  sha256: string;
}

interface ImageFile extends Record<string, unknown> {
  id: string;
  contentType: string;
  sha256: string;
}

/**
 * Returns the avatar of a user, or the default one. A user is found by id in any tenant, otherwise by name in the tenant
 * of the caller, or in `tenant` for callers without credentials. See docs/contract.md#avatars.
 */
export async function readAvatar(ctx: PublicContext, key: string, tenant?: string | null): Promise<AvatarImage> {
  const find = () => findAvatar(ctx, key, ctx.viewer?.tenant ?? (tenant || 'default'));
  // The avatar may be replaced, and its file deleted, between the two reads.
  return (await readImage(ctx, await find())) ?? (await readImage(ctx, await find())) ?? defaultAvatar();
}

async function findAvatar({ platform }: PublicContext, key: string, tenant: string): Promise<ImageFile | undefined> {
  const byId = isUuid(key);
  // Other texts never reach the database.
  if (!byId && !(isAccountName(key) && isSlug(tenant))) return undefined;
  const [file] = await platform.system.query<ImageFile>(
    byId
      ? {
          text: `
            select f.id, f.content_type as "contentType", f.sha256
            from dws.app_user u join dws.stored_file f on f.id = u.avatar_id
            where u.id = $1`,
          values: [key],
        }
      : {
          text: `
            select f.id, f.content_type as "contentType", f.sha256
            from dws.tenant t
            join dws.app_user u on u.tenant_id = t.id
            join dws.stored_file f on f.id = u.avatar_id
            where t.slug = $1 and lower(u.username) = lower($2)`,
          values: [tenant, key],
        },
  );
  return file;
}

async function readImage(
  { platform }: Pick<PublicContext, 'platform'>,
  file: ImageFile | undefined,
): Promise<AvatarImage | undefined> {
  const bytes = file && (await platform.files.read(file.id));
  return bytes && { contentType: file.contentType, bytes, sha256: file.sha256 };
}

/** The contexts of documents that have read an original. */
const readers = new WeakSet<object>();

/**
 * Returns the picture that a user's avatar was drawn from: the uploaded bytes, of an SVG the sanitised ones. Null for a user
 * without avatar. One document returns one, because they are large.
 */
export async function readOriginal(ctx: Context, key: string): Promise<AvatarImage | null> {
  if (readers.has(ctx)) throw badInput('originalAvatar can be requested once in a document');
  readers.add(ctx);
  const { tenantId } = ctx.viewer;
  const [user] = await ctx.query<{ file: ImageFile | null }>({
    text: `
      select case when f.id is not null
        then json_build_object('id', f.id, 'contentType', f.content_type, 'sha256', f.sha256) end as file
      from dws.app_user u left join dws.stored_file f on f.id = u.avatar_original_id
      where ${IS_USER}`,
    values: [tenantId, ...userKeyValues(key)],
  });
  if (!user) throw notFound({ what: 'user', id: key });
  return (await readImage(ctx, user.file ?? undefined)) ?? null;
}

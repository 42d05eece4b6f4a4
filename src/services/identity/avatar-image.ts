import { isAccountName } from '../../core/account-rules.ts';
import type { Context, PublicContext } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { creationTimeOf, isUuid } from '../../core/id.ts';
import { isSlug, tenantOrDefault } from '../../core/slug.ts';
import {
  checkReadOnce,
  readPicture,
  readWholePicture,
  storedPicture,
  type PictureContents,
  type StoredPictureRow,
} from '../resource/picture-file.ts';
import { defaultAvatar } from './default-avatar.ts';
import { IS_USER, userKeyValues } from './user-lookup.ts';

/**
 * Returns the avatar of a user, or the default one. A user is found by id in any tenant, otherwise by name in the
 * tenant of the caller, or in `tenant` for callers without credentials. The response is immutable if `t` matches the
 * address of the avatar. See docs/contract/people.md#avatars.
 */
export async function readAvatar(
  ctx: PublicContext,
  key: string,
  tenant?: string | null,
  t?: number | null,
): Promise<PictureContents & { immutable: boolean }> {
  const read = async () => {
    const row = await findAvatar(ctx, key, ctx.viewer?.tenant ?? tenantOrDefault(tenant));
    const image = row && (await readPicture(ctx, storedPicture(ctx, row)));
    return image && { ...image, immutable: creationTimeOf(row.id) === t };
  };
  // The avatar may be replaced, and its file deleted, between the two reads.
  return (await read()) ?? (await read()) ?? { ...(await readPicture(ctx, await defaultAvatar()))!, immutable: false };
}

async function findAvatar(
  { platform }: PublicContext,
  key: string,
  tenant: string,
): Promise<StoredPictureRow | undefined> {
  const byId = isUuid(key);
  // Other texts never reach the database.
  if (!byId && !(isAccountName(key) && isSlug(tenant))) return undefined;
  const [file] = await platform.system.query<StoredPictureRow>(
    byId
      ? {
          text: `
            select f.id, f.content_type as "contentType", f.sha256, f.size
            from dws.app_user u join dws.stored_file f on f.id = u.avatar_id
            where u.id = $1`,
          values: [key],
        }
      : {
          text: `
            select f.id, f.content_type as "contentType", f.sha256, f.size
            from dws.tenant t
            join dws.app_user u on u.tenant_id = t.id
            join dws.stored_file f on f.id = u.avatar_id
            where t.slug = $1 and lower(u.username) = lower($2)`,
          values: [tenant, key],
        },
  );
  return file;
}

/**
 * Returns the picture of a user's avatar before drawing: the uploaded bytes, for an SVG the sanitised ones. Null for a
 * user without avatar. One document returns one, because they are large.
 */
export async function readOriginal(ctx: Context, key: string): Promise<PictureContents | null> {
  checkReadOnce(ctx, 'originalAvatar');
  const { tenantId } = ctx.viewer;
  const [user] = await ctx.query<{ file: StoredPictureRow | null }>({
    text: `
      select case when f.id is not null
        then json_build_object('id', f.id, 'contentType', f.content_type, 'sha256', f.sha256, 'size', f.size) end as file
      from dws.app_user u left join dws.stored_file f on f.id = u.avatar_original_id
      where ${IS_USER}`,
    values: [tenantId, ...userKeyValues(key)],
  });
  if (!user) throw notFound({ what: 'user', id: key });
  const file = user.file && storedPicture(ctx, user.file);
  return (file && (await readWholePicture(ctx, file))) ?? null;
}

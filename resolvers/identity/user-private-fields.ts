import { Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { DateTime, JsonObject } from '../../src/core/scalars.ts';
import { lockOf } from '../../src/services/identity/user-lock.ts';

/** Columns of a user row that the private fields require. */
interface PrivateRow {
  id: string;
  settings: object;
  lockedAt: Date | null;
  adminLockedAt: Date | null;
  loginAttempts: number;
  passwordSetAt: Date | null;
  passwordExpiresAt: Date | null;
}

const canSeePrivateFields = (ctx: Context, user: PrivateRow) =>
  ctx.viewer.superuser ||
  ctx.viewer.userId === user.id ||
  ctx.viewer.permissions.has('users:view') ||
  ctx.viewer.permissions.has('users:edit');

/** Fields that are null to callers other than the user without `users:view` or `users:edit`. */
@Resolver(() => User)
export class UserPrivateFieldsResolver {
  @Requires('settings')
  @FieldResolver(() => JsonObject, {
    nullable: true,
    description: 'Settings of front-ends. Null if the caller is another user without `users:view` or `users:edit`.',
  })
  settings(@Ctx() ctx: Context, @Root() user: PrivateRow) {
    return canSeePrivateFields(ctx, user) ? user.settings : null;
  }

  @Requires('lockedAt', 'adminLockedAt')
  @FieldResolver(() => Boolean, {
    nullable: true,
    description:
      'Whether an administrator or failed logins have locked the user. Null if the caller is another user without ' +
      '`users:view` or `users:edit`.',
  })
  locked(@Ctx() ctx: Context, @Root() user: PrivateRow) {
    return canSeePrivateFields(ctx, user) ? lockOf(user) !== null : null;
  }

  @Requires('lockedAt', 'adminLockedAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Time of the lock by an administrator, else of the lock after failed logins. Null if the user is not locked, or ' +
      'the caller is another user without `users:view` or `users:edit`.',
  })
  lockedAt(@Ctx() ctx: Context, @Root() user: PrivateRow) {
    return canSeePrivateFields(ctx, user) ? lockOf(user) : null;
  }

  @Requires('loginAttempts')
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'Number of consecutive failed logins. Null if the caller is another user without `users:view` or `users:edit`.',
  })
  loginAttempts(@Ctx() ctx: Context, @Root() user: PrivateRow) {
    return canSeePrivateFields(ctx, user) ? user.loginAttempts : null;
  }

  @Requires('passwordSetAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Time at which the password was set. Null if the caller is another user without `users:view` or `users:edit`.',
  })
  passwordSetAt(@Ctx() ctx: Context, @Root() user: PrivateRow) {
    return canSeePrivateFields(ctx, user) ? user.passwordSetAt : null;
  }

  @Requires('passwordExpiresAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Expiry time of the password. Null if the caller is another user without `users:view` or `users:edit`.',
  })
  passwordExpiresAt(@Ctx() ctx: Context, @Root() user: PrivateRow) {
    return canSeePrivateFields(ctx, user) ? user.passwordExpiresAt : null;
  }
}

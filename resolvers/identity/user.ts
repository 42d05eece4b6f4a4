import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Field,
  Query,
  registerEnumType,
  Resolver,
  Root,
  Int,
} from 'type-graphql';
import { TeamMember } from '../../entities/team-member.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { forbidden } from '../../src/core/errors.ts';
import { Requires } from '../../src/core/read/model.ts';
import { DateTime, JsonObject } from '../../src/core/scalars.ts';
import { changePassword } from '../../src/services/identity/user-password.ts';
import * as permissions from '../../src/services/identity/user-permissions.ts';
import { isLocked } from '../../src/services/identity/user-profile.ts';
import * as users from '../../src/services/identity/user.ts';
import { Username } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { MAX_FLAT_LIST, PageArgs, pageOf } from '../support/page.ts';
import { CreateUserInput, UpdateMeInput, UpdateUserInput } from './user-input.ts';

const UserPage = pageOf(User, 'User');

export const ThemeEnum = { LIGHT: 'light', DARK: 'dark', AUTO: 'auto' } as const satisfies Record<string, users.Theme>;
registerEnumType(ThemeEnum, {
  name: 'Theme',
  description: 'Colours of front-ends.',
  valuesConfig: {
    LIGHT: { description: 'Light.' },
    DARK: { description: 'Dark.' },
    AUTO: { description: 'As the device says.' },
  },
});

/** Answer of the superuser routes. */
@ObjectType({ description: 'Whether a user is a superuser.' })
export class SuperuserState {
  @Field(() => String, { description: 'The user.' }) username!: string;
  @Field(() => Boolean, { description: 'Whether the user passes every check in the tenant.' }) superuser!: boolean;
}

/** What a row of the read path has for a user; computed fields name the columns they need. */
interface UserRow {
  id: string;
  username: string;
  superuser: boolean;
  permissions: string[];
  settings: object;
  lockedAt: Date | null;
  loginAttempts: number;
  passwordSetAt: Date | null;
  passwordExpiresAt: Date | null;
}

const sees = (ctx: Context, user: UserRow) =>
  ctx.viewer.superuser ||
  ctx.viewer.userId === user.id ||
  ctx.viewer.permissions.has('users:view') ||
  ctx.viewer.permissions.has('users:edit');

const needSuperuser = ({ viewer }: Context): void => {
  if (!viewer.superuser) throw forbidden({ permission: 'tenant:superuser' });
};

@Resolver(() => User)
export class UserResolver {
  @Can('authenticated')
  @Query(() => User, { description: 'The caller.' })
  me(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, ctx.viewer.userId, info);
  }

  @Can('authenticated')
  @Query(() => User, { description: 'One user.' })
  user(@Ctx() ctx: Context, @Username() username: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, username, info);
  }

  @Can('authenticated')
  @Query(() => UserPage, { description: 'The users of the tenant. `q` looks at usernames, names and addresses.' })
  users(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(User, page, info);
  }

  @Can('authenticated')
  @Query(() => [User], { description: 'All users of the tenant by username, 10,000 at most.' })
  usersList(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(User, info, {}, { sort: 'username' }, MAX_FLAT_LIST);
  }

  @Can('users:create')
  @Mutation(() => User, { description: 'Creates a user.' })
  async createUser(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new user.' }) input: CreateUserInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.create(ctx, input), info);
  }

  @Can('user:edit')
  @Mutation(() => User, { description: 'Changes a user.' })
  async updateUser(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateUserInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.update(ctx, username, input), info);
  }

  @Can('authenticated')
  @Mutation(() => User, { description: 'Changes the caller’s own profile.' })
  async updateMe(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'What changes.' }) input: UpdateMeInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.update(ctx, ctx.viewer.userId, input), info);
  }

  @Can('user:edit')
  @Mutation(() => User, {
    description: 'Sets the theme of a user’s front-ends: the user themself or an admin of users does.',
  })
  async setTheme(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('theme', () => ThemeEnum, { description: 'The theme.' }) theme: users.Theme,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.setTheme(ctx, username, theme), info);
  }

  @Can('users:delete')
  @Mutation(() => ID, { description: 'Deletes a user; answers the username as given.' })
  async deleteUser(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('transferTo', () => ID, {
      nullable: true,
      description: 'Principal that gets what the user owned; by default the caller.',
    })
    transferTo?: string,
  ) {
    await users.remove(ctx, username, transferTo);
    return username;
  }

  @Can('session')
  @Mutation(() => Boolean, { description: 'Changes the caller’s password and ends their other sessions.' })
  async changePassword(
    @Ctx() ctx: Context,
    @Arg('currentPassword', { description: 'The password so far.' }) currentPassword: string,
    @Arg('password', { description: 'At least 12 characters, not the username.' }) password: string,
  ) {
    await changePassword(ctx, currentPassword, password);
    return true;
  }

  @Can('tenant:superuser')
  @Mutation(() => [String], { description: 'Sets a user’s global permissions; answers them.' })
  setGlobalPermissions(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('permissions', () => [String], { description: 'Global permission strings.' }) words: string[],
  ) {
    return permissions.setPermissions(ctx, username, words);
  }

  @Can('tenant:superuser')
  @Mutation(() => SuperuserState, { description: 'Makes a user a superuser or an ordinary one.' })
  async setSuperuser(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('superuser', { description: 'Whether the user shall be one.' }) superuser: boolean,
  ): Promise<SuperuserState> {
    return { username: await permissions.setSuperuser(ctx, username, superuser), superuser };
  }

  @Requires('settings')
  @FieldResolver(() => JsonObject, {
    nullable: true,
    description: 'Settings of front-ends; null to others without `users:view`.',
  })
  settings(@Ctx() ctx: Context, @Root() user: UserRow) {
    return sees(ctx, user) ? user.settings : null;
  }

  @Requires('lockedAt')
  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'Whether the login is locked; null to others without `users:view`.',
  })
  locked(@Ctx() ctx: Context, @Root() user: UserRow) {
    return sees(ctx, user) ? isLocked(user.lockedAt) : null;
  }

  @Requires('lockedAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the login was locked; null to others without `users:view`.',
  })
  lockedAt(@Ctx() ctx: Context, @Root() user: UserRow) {
    return sees(ctx, user) ? user.lockedAt : null;
  }

  @Requires('loginAttempts')
  @FieldResolver(() => Int, {
    nullable: true,
    description: 'Failed logins in a row; null to others without `users:view`.',
  })
  loginAttempts(@Ctx() ctx: Context, @Root() user: UserRow) {
    return sees(ctx, user) ? user.loginAttempts : null;
  }

  @Requires('passwordSetAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the password was set; null to others without `users:view`.',
  })
  passwordSetAt(@Ctx() ctx: Context, @Root() user: UserRow) {
    return sees(ctx, user) ? user.passwordSetAt : null;
  }

  @Requires('passwordExpiresAt')
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the password stops working; null to others without `users:view`.',
  })
  passwordExpiresAt(@Ctx() ctx: Context, @Root() user: UserRow) {
    return sees(ctx, user) ? user.passwordExpiresAt : null;
  }

  @Requires('superuser', 'permissions')
  @FieldResolver(() => [String], {
    description: 'Global permissions of the user. For superusers; `session` tells one’s own.',
  })
  globalPermissions(@Ctx() ctx: Context, @Root() user: UserRow) {
    needSuperuser(ctx);
    return permissions.permissionsOf(user);
  }

  @Requires('username', 'superuser')
  @FieldResolver(() => SuperuserState, {
    description: 'Whether the user is a superuser. For superusers, in a session.',
  })
  superuserState(@Ctx() ctx: Context, @Root() user: UserRow): SuperuserState {
    needSuperuser(ctx);
    permissions.requireSession(ctx);
    return { username: user.username, superuser: user.superuser };
  }

  @FieldResolver(() => [TeamMember], { description: 'The teams of the user.' })
  memberships(@Ctx() ctx: Context, @Root() user: UserRow, @Info() info: GraphQLResolveInfo) {
    return ctx.read.children(User, 'memberships', user, info);
  }
}

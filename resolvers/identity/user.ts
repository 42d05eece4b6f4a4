import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  FieldResolver,
  ID,
  Info,
  Mutation,
  Query,
  registerEnumType,
  Resolver,
  Root,
} from 'type-graphql';
import { TeamMember } from '../../entities/team-member.ts';
import { CreateUserInput, UpdateMeInput, UpdateUserInput } from '../../entities/user-input.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { PASSWORD_RULE, Rule } from '../../src/core/input-rules.ts';
import { changePassword } from '../../src/services/identity/user-password.ts';
import * as users from '../../src/services/identity/user.ts';
import { Username } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, MAX_FLAT_LIST, PageArgs, pageOf } from '../support/page.ts';

const UserPage = pageOf(User, 'User');

const ThemeEnum = { LIGHT: 'light', DARK: 'dark', AUTO: 'auto' } as const satisfies Record<string, users.Theme>;
registerEnumType(ThemeEnum, {
  name: 'Theme',
  description: 'Colour theme of front-ends.',
  valuesConfig: {
    LIGHT: { description: 'Light theme.' },
    DARK: { description: 'Dark theme.' },
    AUTO: { description: 'Theme of the device.' },
  },
});

@Resolver(() => User)
export class UserResolver {
  @Can('authenticated')
  @Query(() => User, { description: 'Returns the caller.' })
  me(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, ctx.viewer.userId, info);
  }

  @Can('authenticated')
  @Query(() => User, { nullable: true, description: 'Returns a user.' })
  user(@Ctx() ctx: Context, @Username() username: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, username, info);
  }

  @Can('authenticated')
  @Query(() => UserPage, {
    description:
      'Lists the users of the tenant. `q` searches usernames, display, given and family names, and e-mail addresses.',
  })
  users(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(User, page, info);
  }

  @Can('authenticated')
  @Query(() => [User], { description: 'Lists all users of the tenant, sorted by username. At most 10,000.' })
  usersList(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(User, info, {}, { sort: 'username' }, MAX_FLAT_LIST);
  }

  @Can('users:create')
  @Mutation(() => User, { description: 'Creates a user. They cannot log in until `enabled` is true.' })
  async createUser(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new user.' }) input: CreateUserInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.create(ctx, input), info);
  }

  @Can('user:edit')
  @Mutation(() => User, {
    description:
      'Updates a user. Users can update their own profile. Other users and fields require `users:edit`. ' +
      'Only superusers can update a superuser.',
  })
  async updateUser(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateUserInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.update(ctx, username, input), info);
  }

  @Can('authenticated')
  @Mutation(() => User, { description: 'Updates the profile of the caller.' })
  async updateMe(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The changes.' }) input: UpdateMeInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.update(ctx, ctx.viewer.userId, input), info);
  }

  @Can('user:edit')
  @Mutation(() => User, {
    description:
      'Sets `theme` in the settings of a user. Users can set their own theme; other users require `users:edit`.',
  })
  async setTheme(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('theme', () => ThemeEnum, { description: 'Theme.' }) theme: users.Theme,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await users.setTheme(ctx, username, theme), info);
  }

  @Can('users:delete')
  @Mutation(() => ID, {
    description: 'Deletes a user and ends their sessions and tokens immediately. Returns the `username` argument.',
  })
  async deleteUser(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('transferTo', () => ID, {
      nullable: true,
      description:
        'Principal that becomes the owner of the resources of the user. Default: the caller. Callers must set it to ' +
        'delete themselves.',
    })
    transferTo?: string,
  ) {
    await users.remove(ctx, username, transferTo);
    return username;
  }

  @Can('authenticated', { session: true })
  @Mutation(() => Boolean, {
    description:
      'Changes the password of the caller and ends their other sessions. API tokens stay valid. Requires a session.',
  })
  async changePassword(
    @Ctx() ctx: Context,
    @Arg('currentPassword', { description: 'Current password.' }) currentPassword: string,
    @Arg('password', { description: 'New password of 12 to 1,024 characters that is not the username.' })
    @Rule(PASSWORD_RULE)
    password: string,
  ) {
    await changePassword(ctx, currentPassword, password);
    return true;
  }

  @FieldResolver(() => [TeamMember], { description: 'Team memberships of the user.' })
  memberships(
    @Ctx() ctx: Context,
    @Root() user: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(User, 'memberships', user, info, page);
  }
}

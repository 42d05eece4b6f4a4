import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { CreateTeamInput, UpdateTeamInput } from '../../entities/team-input.ts';
import { TeamMember, TeamRoleEnum } from '../../entities/team-member.ts';
import { Team } from '../../entities/team.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import type { TeamRole } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { isTeamAllowed } from '../../src/services/identity/team-access.ts';
import * as teams from '../../src/services/identity/team.ts';
import { Key, Username } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, pageOf } from '../support/page.ts';

const TeamPage = pageOf(Team, 'Team');

@ObjectType({ description: 'Permissions of the caller on a team.' })
class TeamPermissions {
  @Field(() => Boolean, { description: 'Whether the caller can read the team and its members. Always true.' })
  read!: boolean;
  @Field(() => Boolean, { description: 'Whether the caller can edit the team and its members.' }) edit!: boolean;
  @Field(() => Boolean, { description: 'Whether the caller can delete the team.' }) delete!: boolean;
  @Field(() => Boolean, {
    description: 'Whether the caller can read the feed and the comments of the team, and comment.',
  })
  participate!: boolean;
}

@Resolver(() => Team)
export class TeamResolver {
  @Can('authenticated')
  @Query(() => Team, { nullable: true, description: 'Returns a team.' })
  team(@Ctx() ctx: Context, @Key('team') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Team, id, info);
  }

  @Can('authenticated')
  @Query(() => TeamPage, { description: 'Lists the teams of the tenant.' })
  teams(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Team, page, info);
  }

  @Can('teams:create')
  @Mutation(() => Team, { description: 'Creates a team. The caller becomes its first admin.' })
  async createTeam(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new team.' }) input: CreateTeamInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Team, await teams.create(ctx, input), info);
  }

  @Can('team:edit')
  @Mutation(() => Team, { description: 'Updates a team.' })
  async updateTeam(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateTeamInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Team, await teams.update(ctx, id, input), info);
  }

  @Can('team:delete')
  @Mutation(() => ID, { description: 'Deletes a team. Returns the `id` argument.' })
  async deleteTeam(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Arg('transferTo', () => ID, {
      nullable: true,
      description: 'Principal that becomes the owner of the resources of the team. Default: the caller.',
    })
    transferTo?: string,
  ) {
    await teams.remove(ctx, id, transferTo);
    return id;
  }

  @Can('team:edit')
  @Mutation(() => TeamMember, { description: 'Adds a user to a team, or changes their role in it.' })
  async setTeamMember(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Username() username: string,
    @Arg('role', () => TeamRoleEnum, { description: 'Role of the user in the team.' }) role: TeamRole,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(TeamMember, await teams.setMember(ctx, id, username, role), info);
  }

  @Can('authenticated')
  @Mutation(() => ID, {
    description: 'Removes a user from a team. Returns the `username` argument. Members can remove themselves.',
  })
  async removeTeamMember(@Ctx() ctx: Context, @Key('team') id: string, @Username() username: string) {
    await teams.removeMember(ctx, id, username);
    return username;
  }

  @Requires('id')
  @FieldResolver(() => TeamPermissions, { description: 'Permissions of the caller on the team.' })
  permissions(@Ctx() { viewer }: Context, @Root() { id }: { id: string }): TeamPermissions {
    return {
      read: true,
      edit: isTeamAllowed(viewer, id, 'team:edit'),
      delete: isTeamAllowed(viewer, id, 'team:delete'),
      participate: isTeamAllowed(viewer, id, 'team:participate'),
    };
  }

  @FieldResolver(() => String, { description: 'Slug of the tenant.' })
  tenant(@Ctx() { viewer }: Context) {
    return viewer.tenant;
  }

  @Requires('slug')
  @FieldResolver(() => String, { description: 'Natural id, `tenant:slug`. Accepted wherever the id is.' })
  naturalId(@Ctx() { viewer }: Context, @Root() { slug }: { slug: string }) {
    return `${viewer.tenant}:${slug}`;
  }

  @FieldResolver(() => [TeamMember], { description: 'Members, in the order in which they joined.' })
  members(
    @Ctx() ctx: Context,
    @Root() team: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Team, 'members', team, info, page);
  }

  @FieldResolver(() => TeamMember, {
    nullable: true,
    description: 'The membership of a user. Fails with `NOT_FOUND` if the user is not a member.',
  })
  async member(
    @Ctx() ctx: Context,
    @Root() team: { id: string },
    @Username() username: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const user = await ctx.read.one(User, username, ['id']);
    const member = await ctx.read.find(TeamMember, { teamId: team.id, userId: user.id }, info);
    if (!member) throw notFound({ what: 'member', id: username });
    return member;
  }
}

@Resolver(() => TeamMember)
export class TeamMemberResolver {
  @FieldResolver(() => User, { description: 'The user.' })
  user(@Root() member: { user: User }) {
    return member.user;
  }

  @FieldResolver(() => Team, { description: 'The team.' })
  team(@Root() member: { team: Team }) {
    return member.team;
  }
}

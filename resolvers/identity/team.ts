import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { TeamMember, TeamRoleEnum } from '../../entities/team-member.ts';
import { Team } from '../../entities/team.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import type { TeamRole } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as teams from '../../src/services/identity/team.ts';
import { Key, Username } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const TeamPage = pageOf(Team, 'Team');

/** A new team. */
@InputType({ description: 'A new team.' })
export class CreateTeamInput {
  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Short name; made of the name by default.' })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'What the team is for.' })
  description?: string | null;
}

/** Changes of a team. */
@InputType({ description: 'Changes of a team. Absent keys stay as they are, null clears.' })
export class UpdateTeamInput implements Partial<CreateTeamInput> {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'Short name.' })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'What the team is for.' })
  description?: string | null;
}

/** What the caller may do to a team. */
@ObjectType({ description: 'What the caller may do to a team.' })
export class TeamPermissions {
  @Field(() => Boolean, { description: 'See it and the names of its members.' }) read!: boolean;
  @Field(() => Boolean, { description: 'Change it and its members.' }) edit!: boolean;
  @Field(() => Boolean, { description: 'Delete it.' }) delete!: boolean;
}

@Resolver(() => Team)
export class TeamResolver {
  @Can('authenticated')
  @Query(() => Team, { description: 'One team.' })
  team(@Ctx() ctx: Context, @Key('team') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Team, id, info);
  }

  @Can('authenticated')
  @Query(() => TeamPage, { description: 'The teams of the tenant.' })
  teams(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Team, page, info);
  }

  @Can('teams:create')
  @Mutation(() => Team, { description: 'Makes a team; the caller becomes its first admin.' })
  async createTeam(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new team.' }) input: CreateTeamInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Team, await teams.create(ctx, input), info);
  }

  @Can('team:edit')
  @Mutation(() => Team, { description: 'Changes a team.' })
  async updateTeam(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateTeamInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Team, await teams.update(ctx, id, input), info);
  }

  @Can('team:delete')
  @Mutation(() => ID, { description: 'Deletes a team; answers its id as given.' })
  async deleteTeam(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Arg('transferTo', () => ID, {
      nullable: true,
      description: 'Principal that gets what the team owned; by default the caller.',
    })
    transferTo?: string,
  ) {
    await teams.remove(ctx, id, transferTo);
    return id;
  }

  @Can('team:edit')
  @Mutation(() => TeamMember, { description: 'Adds a member or changes their role.' })
  async setTeamMember(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @Username() username: string,
    @Arg('role', () => TeamRoleEnum, { description: 'What they may do there.' }) role: TeamRole,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(TeamMember, await teams.setMember(ctx, id, username, role), info);
  }

  @Can('authenticated')
  @Mutation(() => ID, {
    description: 'Takes a member out of a team; answers the username as given. Everybody may leave.',
  })
  async removeTeamMember(@Ctx() ctx: Context, @Key('team') id: string, @Username() username: string) {
    await teams.removeMember(ctx, id, username);
    return username;
  }

  @Requires('id')
  @FieldResolver(() => TeamPermissions, { description: 'What the caller may do to it.' })
  permissions(@Ctx() { viewer }: Context, @Root() { id }: { id: string }): TeamPermissions {
    const admin = viewer.superuser || viewer.teamRoles[id] === 'admin';
    return { read: true, edit: admin, delete: admin };
  }

  @FieldResolver(() => String, { description: 'Slug of the tenant it belongs to.' })
  tenant(@Ctx() { viewer }: Context) {
    return viewer.tenant;
  }

  @Requires('slug')
  @FieldResolver(() => String, { description: '`tenant:slug`; finds it as its id does.' })
  naturalId(@Ctx() { viewer }: Context, @Root() { slug }: { slug: string }) {
    return `${viewer.tenant}:${slug}`;
  }

  @FieldResolver(() => [TeamMember], { description: 'Its members, in the order they joined.' })
  members(@Ctx() ctx: Context, @Root() team: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.children(Team, 'members', team, info);
  }

  @FieldResolver(() => TeamMember, { description: 'One member.' })
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

import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { CreateTeamCommentInput } from '../../entities/team-comment-input.ts';
import { TeamComment } from '../../entities/team-comment.ts';
import { Team } from '../../entities/team.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { Requires } from '../../src/core/read/model.ts';
import { checkTeamPermission } from '../../src/services/identity/team-access.ts';
import * as comments from '../../src/services/identity/team-comment.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, pageOf } from '../support/page.ts';

const TeamCommentPage = pageOf(TeamComment, 'TeamComment');

@ObjectType({ description: 'Permissions of the caller on a comment.' })
class TeamCommentPermissions {
  @Field(() => Boolean, { description: 'Whether the caller can delete the comment.' }) delete!: boolean;
}

@Resolver(() => Team)
export class TeamCommentsResolver {
  @FieldResolver(() => TeamCommentPage, {
    nullable: true,
    description:
      'Comments, oldest first. Null with the error `FORBIDDEN` for callers who are neither members nor superusers.',
  })
  comments(
    @Ctx() ctx: Context,
    @Root() team: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    checkTeamPermission(ctx.viewer, team.id, 'team:participate');
    return ctx.read.childPage(Team, 'comments', team, info, page);
  }

  @FieldResolver(() => TeamComment, {
    nullable: true,
    description: 'A comment. Null with the error `FORBIDDEN` for callers who are neither members nor superusers.',
  })
  async comment(
    @Ctx() ctx: Context,
    @Root() team: { id: string },
    @Id('comment') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    checkTeamPermission(ctx.viewer, team.id, 'team:participate');
    const comment = await ctx.read.find(TeamComment, { id, teamId: team.id }, info);
    if (!comment) throw notFound({ what: 'comment', id });
    return comment;
  }
}

@Resolver(() => TeamComment)
export class TeamCommentResolver {
  @Can('team:participate')
  @Mutation(() => TeamComment, { description: 'Creates a comment in a team.' })
  async createTeamComment(
    @Ctx() ctx: Context,
    @Key('team', 'teamId') teamId: string,
    @Arg('input', { description: 'The new comment.' }) input: CreateTeamCommentInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(TeamComment, await comments.create(ctx, teamId, input), info);
  }

  @Can('comment:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a comment. Permitted to its writer while in the team, to admins of the team and to superusers. Returns ' +
      'the `id` argument.',
  })
  async deleteTeamComment(@Ctx() ctx: Context, @Key('team', 'teamId') teamId: string, @Id('comment') id: string) {
    await comments.remove(ctx, teamId, id);
    return id;
  }

  @Requires('teamId', 'userId')
  @FieldResolver(() => TeamCommentPermissions, { description: 'Permissions of the caller on the comment.' })
  permissions(
    @Ctx() { viewer }: Context,
    @Root() comment: { teamId: string; userId: string | null },
  ): TeamCommentPermissions {
    return { delete: comments.canDelete(viewer, comment) };
  }
}

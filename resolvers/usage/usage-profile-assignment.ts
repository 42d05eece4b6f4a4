import { Arg, Ctx, Field, FieldResolver, ID, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Team } from '../../entities/team.ts';
import { UsageProfile } from '../../entities/usage-profile.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import { requireBilling } from '../../src/services/usage/require-billing.ts';
import { assignToTeam, assignToUser } from '../../src/services/usage/usage-profile-assignment.ts';
import { Key, Username } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'The usage profile that is assigned to a team or a user.' })
class UsageProfileAssignment {
  @UuidField()
  @Field(() => ID, { nullable: true, description: 'Id of the usage profile. Null if none is assigned.' })
  profileId!: string | null;

  @Field(() => UsageProfile, { nullable: true, description: 'The usage profile. Null if none is assigned.' })
  profile!: object | null;
}

const ASSIGNED = [
  'usageProfileId',
  ...[
    'id',
    'version',
    'createdAt',
    'updatedAt',
    'name',
    'slug',
    'description',
    'creditCapPerMonth',
    'allowedModelTiers',
    'isDefault',
    'system',
  ].map((column) => `usageProfile.${column}`),
];

interface Assignee {
  usageProfileId?: string | null;
  usageProfile?: object | null;
}

const assignmentOf = ({ usageProfileId, usageProfile }: Assignee): UsageProfileAssignment => ({
  profileId: usageProfileId ?? null,
  profile: usageProfile ?? null,
});

const ProfileId = () =>
  Arg('profileId', () => ID, {
    nullable: true,
    description: 'Id, slug or natural id of the usage profile; null for none. Required.',
  });

const REQUIRES = 'Requires `billing:manage`.';

@Resolver(() => Team)
export class TeamUsageProfileResolver {
  @Can('authenticated')
  @Mutation(() => UsageProfileAssignment, { description: `Assigns a usage profile to a team. ${REQUIRES}` })
  async setTeamUsageProfile(
    @Ctx() ctx: Context,
    @Key('team') id: string,
    @ProfileId() @Rule({ required: true }) profileId: string | null,
  ) {
    const teamId = await assignToTeam(ctx, id, profileId);
    return assignmentOf(await ctx.read.one(Team, teamId, ASSIGNED));
  }

  @Requires(...ASSIGNED)
  @FieldResolver(() => UsageProfileAssignment, {
    nullable: true,
    description: `The usage profile that is assigned to the team. ${REQUIRES}`,
  })
  usageProfileAssignment(@Ctx() { viewer }: Context, @Root() team: Assignee) {
    requireBilling(viewer);
    return assignmentOf(team);
  }

  @FieldResolver(() => UsageProfile, {
    nullable: true,
    description:
      'The usage profile that is assigned to the team. Null for callers with neither `billing:manage` nor `usage:write`.',
  })
  usageProfile(@Root() team: Assignee) {
    return team.usageProfile;
  }
}

@Resolver(() => User)
export class UserUsageProfileResolver {
  @Can('authenticated')
  @Mutation(() => UsageProfileAssignment, {
    description: `Assigns a usage profile to a user, which takes precedence over usage profiles of teams. ${REQUIRES}`,
  })
  async setUserUsageProfile(
    @Ctx() ctx: Context,
    @Username() username: string,
    @ProfileId() @Rule({ required: true }) profileId: string | null,
  ) {
    const userId = await assignToUser(ctx, username, profileId);
    return assignmentOf(await ctx.read.one(User, userId, ASSIGNED));
  }

  @Requires(...ASSIGNED)
  @FieldResolver(() => UsageProfileAssignment, {
    nullable: true,
    description: `The usage profile that is assigned to the user. ${REQUIRES}`,
  })
  usageProfileAssignment(@Ctx() { viewer }: Context, @Root() user: Assignee) {
    requireBilling(viewer);
    return assignmentOf(user);
  }
}

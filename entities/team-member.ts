import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { TEAM_ROLES, type TeamRole } from '../src/core/permissions.ts';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/**
 * REST and the database use the values. TypeGraphQL requires an object whose keys are the GraphQL names.
 */
export const TeamRoleEnum = { MEMBER: 'member', MEMBER_PLUS: 'memberPlus', ADMIN: 'admin' } as const satisfies Record<
  string,
  TeamRole
>;
registerEnumType(TeamRoleEnum, {
  name: 'TeamRole',
  description: 'Role of a member: their rights on the team and on the resources that it owns.',
  valuesConfig: {
    MEMBER: { description: 'Can read the resources of the team and see their tags.' },
    MEMBER_PLUS: { description: 'Can also write and run the resources of the team and assign tags to them.' },
    ADMIN: { description: 'Can also share and delete the resources of the team, and edit the team and its members.' },
  },
});

/** See docs/contract/access.md#team-roles. */
@ObjectType('Membership', { description: 'Membership of a user in a team.', implements: Node })
@Entity()
export class TeamMember extends TenantRow {
  @Field(() => ID, { description: 'Id of the team.' })
  @Property({ type: 'uuid' })
  teamId!: string;

  @Field(() => ID, { description: 'Id of the user.' })
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => TeamRoleEnum, { description: 'Role of the user in the team.' })
  @Enum({ items: () => [...TEAM_ROLES], type: 'text' })
  role!: TeamRole;

  @Field(() => DateTime, { description: 'Time at which the user joined the team.' })
  @Property({ type: 'timestamptz' })
  joinedAt: Date = new Date();
}

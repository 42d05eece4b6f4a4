import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { TEAM_ROLES, type TeamRole } from '../src/core/permissions.ts';
import { DateTime } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** TypeGraphQL wants an object: the keys are GraphQL's words, the values those of the specification. */
export const TeamRoleEnum = { MEMBER: 'member', MEMBER_PLUS: 'memberPlus', ADMIN: 'admin' } as const satisfies Record<
  string,
  TeamRole
>;
registerEnumType(TeamRoleEnum, {
  name: 'TeamRole',
  description: 'What a member may do with what the team owns.',
  valuesConfig: {
    MEMBER: { description: 'Reads what the team owns and sees its tags.' },
    MEMBER_PLUS: { description: 'Also writes, runs and assigns tags.' },
    ADMIN: { description: 'Also manages members and the team, shares and deletes.' },
  },
});

/** That a user belongs to a team (specification, "Membership"). */
@ObjectType('Membership', { description: 'That a user belongs to a team.' })
@Entity()
export class TeamMember extends TenantRow {
  @Field(() => ID, { description: 'The team.' })
  @Property({ type: 'uuid' })
  teamId!: string;

  @Field(() => ID, { description: 'The user.' })
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => TeamRoleEnum, { description: 'What the user may do there.' })
  @Enum({ items: () => [...TEAM_ROLES], type: 'text' })
  role!: TeamRole;

  @Field(() => DateTime, { description: 'When the user joined.' })
  @Property({ type: 'timestamptz' })
  joinedAt: Date = new Date();
}

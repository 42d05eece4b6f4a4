import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { printPrincipal } from '../../src/core/viewer.ts';

export const PrincipalTypeEnum = { USER: 'user', TEAM: 'team' } as const;
registerEnumType(PrincipalTypeEnum, {
  name: 'PrincipalType',
  description: 'What a principal is.',
  valuesConfig: { USER: { description: 'A user.' }, TEAM: { description: 'A team.' } },
});

/** Somebody who can own things and with whom things are shared (specification, "Owner principal"). */
@ObjectType({ description: 'Somebody who can own things and with whom things are shared: a user or a team.' })
export class Principal {
  @Field(() => ID, { description: 'Id of a user, or `team:<id>`.' })
  id!: string;

  @Field(() => String, { description: 'Name to show.' })
  name!: string;

  @Field(() => PrincipalTypeEnum, { description: 'User or team.' })
  type!: 'user' | 'team';

  @Field(() => String, { nullable: true, description: 'Of a user: the e-mail address.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'Of a team: what it is for.' })
  description!: string | null;
}

/** What the read path brings of a principal. */
export interface PrincipalColumns {
  user?: { username: string; displayName: string | null; email: string | null } | null;
  team?: { name: string; description: string | null } | null;
}

/** What `@Needs` must name of the relations to user and team for `principalOf`. */
export const principalColumns = (user: string, team: string): string[] => [
  `${user}.username`,
  `${user}.displayName`,
  `${user}.email`,
  `${team}.name`,
  `${team}.description`,
];

export function principalOf(principal: string, { user, team }: PrincipalColumns): Principal {
  const name = team?.name ?? user?.displayName ?? user?.username ?? '';
  return {
    id: printPrincipal(principal),
    name,
    type: principal.startsWith('team:') ? 'team' : 'user',
    email: user?.email ?? null,
    description: team?.description ?? null,
  };
}

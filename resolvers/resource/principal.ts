import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Team } from '../../entities/team.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { printPrincipal } from '../../src/core/viewer.ts';

const PrincipalTypeEnum = { USER: 'user', TEAM: 'team' } as const;
registerEnumType(PrincipalTypeEnum, {
  name: 'PrincipalType',
  description: 'Type of a principal.',
  valuesConfig: { USER: { description: 'A user.' }, TEAM: { description: 'A team.' } },
});

/** See docs/contract/resources.md#owners. */
@ObjectType({ description: 'A user or team that can own resources and receive shares.' })
export class Principal {
  @Field(() => ID, { description: 'User id or `team:<id>`.' })
  id!: string;

  @Field(() => ID, { description: 'Id with the type: `user:<id>` or `team:<id>`.' })
  qualifiedId!: string;

  @Field(() => String, { description: 'Name to display. For a user: the display name, or the username without one.' })
  name!: string;

  @Field(() => PrincipalTypeEnum, { description: 'Type: user or team.' })
  type!: 'user' | 'team';

  @Field(() => String, { nullable: true, description: 'E-mail address of a user; null for a team.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'Description of a team; null for a user.' })
  description!: string | null;
}

/** The columns of a principal that the read path selects. */
export interface PrincipalColumns {
  user?: { username: string; displayName: string | null; email: string | null } | null;
  team?: { name: string; description: string | null } | null;
}

/** Returns the columns that `principalOf` requires. `user` and `team` are the names of the relations. */
export const principalColumns = (user: string, team: string): string[] => [
  `${user}.username`,
  `${user}.displayName`,
  `${user}.email`,
  `${team}.name`,
  `${team}.description`,
];

/** Loads a principal by `user:<id>` or `team:<id>`. Loads of one tick share a statement for users and one for teams. */
export async function loadPrincipal({ read }: Context, principal: string): Promise<Principal> {
  const [type, id = ''] = principal.split(':');
  if (type === 'team') {
    const [team] = await read.many(Team, [id], ['name', 'description']);
    return principalOf(principal, { team: team && { name: team.name, description: team.description ?? null } });
  }
  const [user] = await read.many(User, [id], ['username', 'displayName', 'email']);
  return principalOf(principal, { user: user as PrincipalColumns['user'] });
}

/** Returns a principal with the name to display. */
export function principalOf(principal: string, { user, team }: PrincipalColumns): Principal {
  const name = team?.name ?? user?.displayName ?? user?.username ?? '';
  return {
    id: printPrincipal(principal),
    qualifiedId: principal,
    name,
    type: principal.startsWith('team:') ? 'team' : 'user',
    email: user?.email ?? null,
    description: team?.description ?? null,
  };
}

import { Ctx, Field, FieldResolver, ID, ObjectType, registerEnumType, Resolver, Root, type ClassType } from 'type-graphql';
import type { OwnedRow } from '../entities/owned-row.ts';
import type { Context } from '../src/core/context.ts';
import { abilitiesAt, LEVEL, type Ability, type Kind } from '../src/core/permissions.ts';
import { Needs } from '../src/core/read/model.ts';
import { levelOf } from '../src/services/rights.ts';

export const PrincipalTypeEnum = { USER: 'user', TEAM: 'team' } as const;
registerEnumType(PrincipalTypeEnum, { name: 'PrincipalType', description: 'What a principal is.', valuesConfig: { USER: { description: 'A user.' }, TEAM: { description: 'A team.' } } });

/** Somebody who can own things. */
@ObjectType({ description: 'Somebody who can own things: a user or a team.' })
export class Principal {
  @Field(() => ID, { description: 'Id of a user, or `team:<id>`.' })
  id!: string;

  @Field(() => String, { description: 'Name to show.' })
  name!: string;

  @Field(() => PrincipalTypeEnum, { description: 'User or team.' })
  type!: 'user' | 'team';
}

/** Users print their bare id, teams `team:<id>` (contract 3). */
const printed = (principal: string): string => (principal.startsWith('user:') ? principal.slice(5) : principal);

const MEANS: Record<Ability, string> = {
  read: 'See it.', write: 'Change what it says or does.', edit: 'Change its name and description.', run: 'Run queries with it.', refresh: 'Replace its rows by those of its query.',
  copy: 'Copy it or take snapshots.', share: 'Share it with others.', delete: 'Delete it.', addVisual: 'Add and change visuals.', deleteVisual: 'Delete visuals.',
  assignTags: 'Put tags on it.', changeOwner: 'Give it to somebody else.',
};

/** Declares the permissions object of a kind, e.g. `DatasetPermissions`: one boolean for each ability. */
function permissionsType(kind: Kind, type: string): ClassType {
  @ObjectType(`${type}Permissions`, { description: `What the caller may do to a ${type}.` })
  class Permissions {}
  for (const ability of Object.keys(abilitiesAt(kind, LEVEL.none)) as Ability[]) Field(() => Boolean, { description: MEANS[ability] })(Permissions.prototype, ability);
  return Permissions;
}

/** What the read path brings of an owner. */
interface OwnerColumns {
  ownerId: string;
  ownerUser?: { username: string; displayName: string | null } | null;
  ownerTeam?: { name: string } | null;
}

/** Declares the computed fields that all kinds with owners share; the result is one more resolver of the type. */
export function ownedFields<T extends OwnedRow>(type: ClassType<T>, kind: Kind): NewableFunction {
  const Permissions = permissionsType(kind, type.name);

  @Resolver(() => type)
  class OwnedFields {
    @FieldResolver(() => String, { description: 'Slug of the tenant.' })
    tenant(@Ctx() { viewer }: Context): string {
      return viewer.tenant;
    }

    @Needs('slug') @FieldResolver(() => String, { description: '`{tenant}:{slug}`.' })
    naturalId(@Ctx() { viewer }: Context, @Root() { slug }: { slug: string }): string {
      return `${viewer.tenant}:${slug}`;
    }

    @Needs('ownerId') @FieldResolver(() => ID, { description: 'The owner: id of a user, or `team:<id>`.' })
    ownerId(@Root() { ownerId }: { ownerId: string }): string {
      return printed(ownerId);
    }

    @Needs('ownerId', 'ownerUser.username', 'ownerUser.displayName', 'ownerTeam.name')
    @FieldResolver(() => Principal, { description: 'The owner, with the name to show.' })
    owner(@Root() { ownerId, ownerUser, ownerTeam }: OwnerColumns): Principal {
      const name = ownerTeam?.name ?? ownerUser?.displayName ?? ownerUser?.username ?? '';
      return { id: printed(ownerId), name, type: ownerId.startsWith('team:') ? 'team' : 'user' };
    }

    @Needs('ownerId') @FieldResolver(() => Permissions, { description: 'What the caller may do to it.' })
    permissions(@Ctx() { viewer }: Context, @Root() { ownerId }: { ownerId: string }): object {
      return abilitiesAt(kind, levelOf(viewer, ownerId));
    }
  }
  return OwnedFields;
}

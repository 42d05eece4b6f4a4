import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root, type ClassType } from 'type-graphql';
import type { OwnedRow } from '../entities/owned-row.ts';
import { Share } from '../entities/share.ts';
import type { Context } from '../src/core/context.ts';
import { notFound } from '../src/core/errors.ts';
import { abilitiesAt, LEVEL, type Ability, type Kind, type Permission } from '../src/core/permissions.ts';
import { Needs } from '../src/core/read/model.ts';
import { setOwner, type KindOf } from '../src/services/kind.ts';
import { levelOn, type Owned } from '../src/services/rights.ts';
import * as shares from '../src/services/share.ts';
import { Key } from './arguments.ts';
import { Can } from './guard.ts';
import { Principal, principalNeeds, principalOf, printed, type PrincipalColumns } from './principal.ts';
import { PrincipalId, ShareInput } from './share.ts';

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
  ownerUser?: PrincipalColumns['user'];
  ownerTeam?: PrincipalColumns['team'];
}

/** Declares the fields and mutations that all kinds with owners share; the result is one more resolver of the type. */
export function ownedFields<T extends OwnedRow>(kindOf: KindOf<T>): NewableFunction {
  const { kind, what } = kindOf;
  const type = kindOf.entity as ClassType<T>;
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

    @Needs('ownerId', ...principalNeeds('ownerUser', 'ownerTeam')) @FieldResolver(() => Principal, { description: 'The owner, with the name to show.' })
    owner(@Root() { ownerId, ownerUser, ownerTeam }: OwnerColumns): Principal {
      return principalOf(ownerId, { user: ownerUser, team: ownerTeam });
    }

    @Needs('id', 'ownerId') @FieldResolver(() => Permissions, { description: 'What the caller may do to it.' })
    permissions(@Ctx() ctx: Context, @Root() resource: Owned): object | Promise<object> {
      const level = levelOn(ctx, resource);
      return typeof level === 'number' ? abilitiesAt(kind, level) : level.then((found) => abilitiesAt(kind, found));
    }

    @FieldResolver(() => [Share], { description: 'What others may do to it, the eldest first.' })
    shares(@Ctx() ctx: Context, @Root() resource: Owned, @Info() info: GraphQLResolveInfo) {
      return ctx.read.children(type, 'shares', resource, info);
    }

    @FieldResolver(() => Share, { description: 'What one user or team may do to it beside its owner.' })
    async share(@Ctx() ctx: Context, @Root() resource: Owned, @PrincipalId() principalId: string, @Info() info: GraphQLResolveInfo) {
      const share = await ctx.read.find(Share, await shares.keyOf(ctx, resource.id, principalId), info);
      if (!share) throw notFound({ what: 'share', id: principalId });
      return share;
    }

    @Can(`${kind}:share` as Permission) @Mutation(() => Share, { name: `share${type.name}`, description: `Shares a ${what} with a user or team, or changes what they may do.` })
    async shareOne(@Ctx() ctx: Context, @Key(what) id: string, @PrincipalId() principalId: string, @Arg('input', { description: 'What they may do.' }) input: ShareInput, @Info() info: GraphQLResolveInfo) {
      return ctx.read.written(Share, await shares.set(ctx, kindOf, id, principalId, input), info);
    }

    @Can(`${kind}:share` as Permission) @Mutation(() => ID, { name: `unshare${type.name}`, description: `Takes a share of a ${what} away; answers whose as given. What ownership gives stays.` })
    async unshareOne(@Ctx() ctx: Context, @Key(what) id: string, @PrincipalId() principalId: string) {
      await shares.remove(ctx, kindOf, id, principalId);
      return principalId;
    }

    @Can(`${kind}:changeOwner` as Permission) @Mutation(() => type, { name: `set${type.name}Owner`, description: `Gives a ${what} to another user or team.` })
    async setOwner(@Ctx() ctx: Context, @Key(what) id: string, @Arg('ownerId', () => ID, { description: 'The new owner: `user:<id>`, `team:<id>`, a user’s id or name.' }) ownerId: string, @Info() info: GraphQLResolveInfo) {
      return ctx.read.written(type, await setOwner(ctx, kindOf, id, ownerId), info);
    }
  }
  return OwnedFields;
}

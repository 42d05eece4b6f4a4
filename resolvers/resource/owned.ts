import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root, type ClassType } from 'type-graphql';
import type { Activity } from '../../entities/activity.ts';
import { Favorite } from '../../entities/favorite.ts';
import { Folder } from '../../entities/folder.ts';
import type { OwnedKind } from '../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import { ShareInput } from '../../entities/share-input.ts';
import { Share } from '../../entities/share.ts';
import { TagAssignment } from '../../entities/tag-assignment.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { abilitiesAt, isRestricted, type Permission } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import type { Row } from '../../src/core/read/reader.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { loadVisibleShares } from '../../src/services/dataset/dataset-share.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import * as favorites from '../../src/services/resource/favorite.ts';
import { accessLevelColumns, setOwner } from '../../src/services/resource/owned-kind.ts';
import * as shares from '../../src/services/resource/share.ts';
import * as tagging from '../../src/services/resource/tag-assignment.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ActivityPage, ChildPageArgs } from './activity.ts';
import { permissionsType } from './permissions-type.ts';
import { Principal, principalColumns, principalOf, type PrincipalColumns } from './principal.ts';
import { ReferencePage } from './reference.ts';
import { PrincipalId } from './share.ts';

/** All that GraphQL shows of a favourite. */
const FAVORITE = ['resourceId', 'userId', 'createdAt', 'updatedAt'];

const TagId = () => Arg('tagId', () => ID, { description: 'Id of the tag.' });

/** What the read path brings of an owner. */
interface OwnerColumns {
  ownerId: string;
  ownerUser?: PrincipalColumns['user'];
  ownerTeam?: PrincipalColumns['team'];
}

/** What a kind's shares take, where that is more than a level. */
interface ShareMutation {
  input: ClassType<ShareInput>;
  set(ctx: Context, id: string, principalId: string, input: ShareInput): Promise<string>;
}

/** Declares the fields and mutations that all kinds with owners share; the result is one more resolver of the type. */
export function ownedFields<T extends OwnedRow>(
  kindOf: OwnedKind<T>,
  sharing: ShareMutation = { input: ShareInput, set: (ctx, ...share) => shares.set(ctx, kindOf, ...share) },
): NewableFunction {
  const { kind, what } = kindOf;
  const type = kindOf.entity as ClassType<T>;
  const Permissions = permissionsType(kind, type.name);

  /** Both fields that speak of it ask for the same columns, so that a list which shows both takes one statement for them. */
  const favoriteOf = async (ctx: Context, resource: AccessColumns): Promise<Row<Favorite> | null> =>
    (await ctx.read.children<Favorite>(type, 'favorites', resource, FAVORITE))[0] ?? null;

  @Resolver(() => type)
  class OwnedFields {
    @FieldResolver(() => String, { description: 'Slug of the tenant.' })
    tenant(@Ctx() { viewer }: Context): string {
      return viewer.tenant;
    }

    @Requires('slug')
    @FieldResolver(() => String, { description: '`{tenant}:{slug}`.' })
    naturalId(@Ctx() { viewer }: Context, @Root() { slug }: { slug: string }): string {
      return `${viewer.tenant}:${slug}`;
    }

    @Requires('ownerId')
    @FieldResolver(() => ID, { description: 'The owner: id of a user, or `team:<id>`.' })
    ownerId(@Root() { ownerId }: { ownerId: string }): string {
      return printPrincipal(ownerId);
    }

    @Requires('ownerId', ...principalColumns('ownerUser', 'ownerTeam'))
    @FieldResolver(() => Principal, { description: 'The owner, with the name to show.' })
    owner(@Root() { ownerId, ownerUser, ownerTeam }: OwnerColumns): Principal {
      return principalOf(ownerId, { user: ownerUser, team: ownerTeam });
    }

    @Requires(...accessLevelColumns(kindOf))
    @FieldResolver(() => Permissions, { description: 'What the caller may do to it.' })
    permissions(@Ctx() ctx: Context, @Root() resource: AccessColumns): object | Promise<object> {
      const level = accessLevel(ctx, resource);
      return typeof level === 'number' ? abilitiesAt(kind, level) : level.then((found) => abilitiesAt(kind, found));
    }

    @FieldResolver(() => Folder, { nullable: true, description: 'The folder it lies in; null outside of all folders.' })
    folder(@Root() { folder }: { folder: Folder | null }): Folder | null {
      return folder;
    }

    @Requires(...accessLevelColumns(kindOf))
    @FieldResolver(() => [Share], {
      description:
        'What others may do to it, the eldest first. Who sees a part of it is shown their own and their teams’.',
    })
    shares(@Ctx() ctx: Context, @Root() resource: AccessColumns, @Info() info: GraphQLResolveInfo) {
      return loadVisibleShares(ctx, resource, (own) =>
        ctx.read.children<Share>(type, 'shares', resource, info, {}, own),
      );
    }

    @Requires(...accessLevelColumns(kindOf))
    @FieldResolver(() => Share, { description: 'What one user or team may do to it beside its owner.' })
    async share(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @PrincipalId() principalId: string,
      @Info() info: GraphQLResolveInfo,
    ) {
      const key = await shares.findKey(ctx, resource.id, principalId);
      const [share] = await loadVisibleShares(ctx, resource, async (own) =>
        [await ctx.read.find(Share, key, info, own)].filter((found) => found !== null),
      );
      if (!share) throw notFound({ what: 'share', id: principalId });
      return share;
    }

    @Requires(...accessLevelColumns(kindOf))
    @FieldResolver(() => ReferencePage, {
      description: 'What uses it, as far as the caller may read that; at most 1000.',
    })
    async references(@Ctx() ctx: Context, @Root() resource: AccessColumns, @Info() info: GraphQLResolveInfo) {
      return { ...(await ctx.read.childPage(type, 'references', resource, info)), kindOf, resource };
    }

    @FieldResolver(() => [TagAssignment], { description: 'Its tags, in the order the tags were made.' })
    tagAssignments(@Ctx() ctx: Context, @Root() resource: AccessColumns, @Info() info: GraphQLResolveInfo) {
      return ctx.read.children(type, 'tagAssignments', resource, info);
    }

    @FieldResolver(() => TagAssignment, { description: 'One of its tags; an error when it does not have it.' })
    async tagAssignment(
      @Ctx() ctx: Context,
      @Root() { id }: AccessColumns,
      @TagId() tagId: string,
      @Info() info: GraphQLResolveInfo,
    ) {
      const assignment = await ctx.read.find(TagAssignment, { resourceId: id, tagId }, info);
      if (!assignment) throw notFound({ what: 'tag assignment', id: tagId });
      return assignment;
    }

    @FieldResolver(() => Boolean, { description: 'Whether it is a favourite of the caller.' })
    async favorited(@Ctx() ctx: Context, @Root() resource: AccessColumns) {
      return (await favoriteOf(ctx, resource)) !== null;
    }

    @FieldResolver(() => Favorite, {
      nullable: true,
      description: 'The caller’s mark on it; null when it is none of their favourites.',
    })
    favorite(@Ctx() ctx: Context, @Root() resource: AccessColumns) {
      return favoriteOf(ctx, resource);
    }

    @Requires(...accessLevelColumns(kindOf))
    @FieldResolver(() => ActivityPage, {
      description: 'What was done to it, the latest first; without particulars to those who see a part of it.',
    })
    async activity(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @Args(() => ChildPageArgs) page: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      const found = await ctx.read.childPage<Activity>(type, 'activity', resource, info, page);
      return isRestricted(await accessLevel(ctx, resource))
        ? { ...found, items: found.items.map((activity) => ({ ...activity, data: {} })) }
        : found;
    }

    @Can(`${kind}:assignTags` as Permission)
    @Mutation(() => TagAssignment, {
      name: `tag${type.name}`,
      description: `Puts a tag on a ${what}; nothing happens when it has it.`,
    })
    async tagOne(@Ctx() ctx: Context, @Key(what) id: string, @TagId() tagId: string, @Info() info: GraphQLResolveInfo) {
      const { id: assignment, created } = await tagging.assign(ctx, kindOf, id, tagId);
      return { ...(await ctx.read.readAfterWrite(TagAssignment, assignment, info)), created };
    }

    @Can(`${kind}:assignTags` as Permission)
    @Mutation(() => ID, {
      name: `untag${type.name}`,
      description: `Takes a tag off a ${what}; answers the tag’s id as given.`,
    })
    async untagOne(@Ctx() ctx: Context, @Key(what) id: string, @TagId() tagId: string) {
      await tagging.unassign(ctx, kindOf, id, tagId);
      return tagId;
    }

    @Can(`${kind}:read` as Permission)
    @Mutation(() => Favorite, {
      name: `favorite${type.name}`,
      description: `Makes a ${what} a favourite of the caller.`,
    })
    async favoriteOne(@Ctx() ctx: Context, @Key(what) id: string, @Info() info: GraphQLResolveInfo) {
      return ctx.read.one(Favorite, { resourceId: await favorites.add(ctx, kindOf, id) }, info);
    }

    @Can(`${kind}:read` as Permission)
    @Mutation(() => ID, {
      name: `unfavorite${type.name}`,
      description: `Makes a ${what} no favourite of the caller any more; answers its id as given.`,
    })
    async unfavoriteOne(@Ctx() ctx: Context, @Key(what) id: string) {
      await favorites.remove(ctx, kindOf, id);
      return id;
    }

    @Can(`${kind}:share` as Permission)
    @Mutation(() => Share, {
      name: `share${type.name}`,
      description: `Shares a ${what} with a user or team, or changes what they may do.`,
    })
    async shareOne(
      @Ctx() ctx: Context,
      @Key(what) id: string,
      @PrincipalId() principalId: string,
      @Arg('input', () => sharing.input, { description: 'What they may do.' }) input: ShareInput,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.readAfterWrite(Share, await sharing.set(ctx, id, principalId, input), info);
    }

    @Can(`${kind}:share` as Permission)
    @Mutation(() => ID, {
      name: `unshare${type.name}`,
      description: `Takes a share of a ${what} away; answers whose as given. What ownership gives stays.`,
    })
    async unshareOne(@Ctx() ctx: Context, @Key(what) id: string, @PrincipalId() principalId: string) {
      await shares.remove(ctx, kindOf, id, principalId);
      return principalId;
    }

    @Can(`${kind}:changeOwner` as Permission)
    @Mutation(() => type, { name: `set${type.name}Owner`, description: `Gives a ${what} to another user or team.` })
    async setOwner(
      @Ctx() ctx: Context,
      @Key(what) id: string,
      @Arg('ownerId', () => ID, { description: 'The new owner: `user:<id>`, `team:<id>`, a user’s id or name.' })
      ownerId: string,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.readAfterWrite(type, await setOwner(ctx, kindOf, id, ownerId), info);
    }
  }
  return OwnedFields;
}

import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Resolver, Root, type ClassType } from 'type-graphql';
import type { Activity } from '../../entities/activity.ts';
import { Favorite } from '../../entities/favorite.ts';
import { Folder } from '../../entities/folder.ts';
import type { OwnedKind } from '../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import { Share } from '../../entities/share.ts';
import { TagAssignment } from '../../entities/tag-assignment.ts';
import { Tag } from '../../entities/tag.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { abilitiesAt, isRestricted } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import type { ReadRow } from '../../src/core/read/reader.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { loadVisibleShares } from '../../src/services/dataset/dataset-share.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import { accessLevelColumns } from '../../src/services/resource/owned-kind.ts';
import * as shares from '../../src/services/resource/share.ts';
import { ChildPageArgs } from '../support/page.ts';
import { ActivityPage } from './activity.ts';
import { ownedMutations, type ShareMutation } from './owned-mutations.ts';
import { permissionsType } from './permissions-type.ts';
import { Principal, principalColumns, principalOf, type PrincipalColumns } from './principal.ts';
import { ReferencePage } from './reference.ts';
import { PrincipalId } from './share.ts';

/** The columns of a favourite that GraphQL returns. */
const FAVORITE_COLUMNS = ['kind', 'resourceId', 'userId', 'createdAt', 'updatedAt'];

/** Activities without those about shares. */
const NOT_ABOUT_SHARES = { sql: `type not like '%.shared' and type not like '%.unshared'`, params: [] };

interface OwnerColumns {
  ownerId: string;
  ownerUser?: PrincipalColumns['user'];
  ownerTeam?: PrincipalColumns['team'];
}

/**
 * Declares the fields and mutations of a kind with owners: two resolver classes. `shareMutation` replaces the input and
 * the service of the mutation that shares a resource. Returns the class of the fields.
 */
export function ownedFields<T extends OwnedRow>(
  ownedKind: OwnedKind<T>,
  shareMutation?: ShareMutation,
): NewableFunction {
  ownedMutations(ownedKind, shareMutation);
  const { kind } = ownedKind;
  const type = ownedKind.entity as ClassType<T>;
  const Permissions = permissionsType(kind, type.name);

  /** Both fields on favourites select these columns, so that one statement loads them for a list. */
  const favoriteOf = async (ctx: Context, resource: AccessColumns): Promise<ReadRow<Favorite> | null> =>
    (await ctx.read.children<Favorite>(type, 'favorites', resource, FAVORITE_COLUMNS))[0] ?? null;

  @Resolver(() => type)
  class OwnedFields {
    @FieldResolver(() => String, { description: 'Slug of the tenant.' })
    tenant(@Ctx() { viewer }: Context): string {
      return viewer.tenant;
    }

    @Requires('slug')
    @FieldResolver(() => String, { description: 'Natural id: `<tenant>:<slug>`.' })
    naturalId(@Ctx() { viewer }: Context, @Root() { slug }: { slug: string }): string {
      return `${viewer.tenant}:${slug}`;
    }

    @Requires('ownerId')
    @FieldResolver(() => ID, { description: 'Owner: user id or `team:<id>`.' })
    ownerId(@Root() { ownerId }: { ownerId: string }): string {
      return printPrincipal(ownerId);
    }

    @Requires('ownerId', ...principalColumns('ownerUser', 'ownerTeam'))
    @FieldResolver(() => Principal, { description: 'Owner, with the name to display.' })
    owner(@Root() { ownerId, ownerUser, ownerTeam }: OwnerColumns): Principal {
      return principalOf(ownerId, { user: ownerUser, team: ownerTeam });
    }

    @Requires(...accessLevelColumns(ownedKind))
    @FieldResolver(() => Permissions, { description: 'The permissions of the caller.' })
    permissions(@Ctx() ctx: Context, @Root() resource: AccessColumns): object | Promise<object> {
      const level = accessLevel(ctx, resource);
      return typeof level === 'number' ? abilitiesAt(kind, level) : level.then((found) => abilitiesAt(kind, found));
    }

    @FieldResolver(() => Folder, { nullable: true, description: 'Folder of the resource; null if it is in none.' })
    folder(@Root() { folder }: { folder: Folder | null }): Folder | null {
      return folder;
    }

    @Requires(...accessLevelColumns(ownedKind))
    @FieldResolver(() => [Share], {
      description:
        'Shares, oldest first. A caller with restricted access sees only shares for themselves and for their teams.',
    })
    shares(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @Args(() => ChildPageArgs) page: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      return loadVisibleShares(ctx, resource, (own) =>
        ctx.read.children<Share>(type, 'shares', resource, info, page, own),
      );
    }

    @Requires(...accessLevelColumns(ownedKind))
    @FieldResolver(() => Share, {
      nullable: true,
      description: 'Share of a user or team. Fails with `NOT_FOUND` if there is none.',
    })
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

    @Requires(...accessLevelColumns(ownedKind))
    @FieldResolver(() => ReferencePage, {
      description: 'Resources that use it and that the caller may read.',
    })
    async references(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @Args(() => ChildPageArgs) page: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      return { ...(await ctx.read.childPage(type, 'references', resource, info, page)), kindOf: ownedKind, resource };
    }

    @FieldResolver(() => [TagAssignment], {
      description: 'Assignments of its tags, in the order in which the tags were created.',
    })
    tagAssignments(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @Args(() => ChildPageArgs) page: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.children(type, 'tagAssignments', resource, info, page);
    }

    @FieldResolver(() => [Tag], { description: 'Its tags, in the order in which they were created.' })
    assignedTags(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @Args(() => ChildPageArgs) page: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.children(type, 'assignedTags', resource, info, page);
    }

    @FieldResolver(() => TagAssignment, {
      nullable: true,
      description: 'Assignment of one tag. Fails with `NOT_FOUND` if it is not assigned.',
    })
    async tagAssignment(
      @Ctx() ctx: Context,
      @Root() { id }: AccessColumns,
      @Arg('tagId', () => ID, { description: 'Id of the tag.' }) tagId: string,
      @Info() info: GraphQLResolveInfo,
    ) {
      const assignment = await ctx.read.find(TagAssignment, { resourceId: id, tagId }, info);
      if (!assignment) throw notFound({ what: 'tag assignment', id: tagId });
      return assignment;
    }

    @FieldResolver(() => Boolean, { description: 'Whether the resource is a favourite of the caller.' })
    async favorited(@Ctx() ctx: Context, @Root() resource: AccessColumns) {
      return (await favoriteOf(ctx, resource)) !== null;
    }

    @FieldResolver(() => Favorite, {
      nullable: true,
      description: 'The caller’s favourite record. Null if it is not one of their favourites.',
    })
    favorite(@Ctx() ctx: Context, @Root() resource: AccessColumns) {
      return favoriteOf(ctx, resource);
    }

    @Requires(...accessLevelColumns(ownedKind))
    @FieldResolver(() => ActivityPage, {
      description:
        'Activities, latest first. A caller with restricted access gets them without `data`, and none about shares.',
    })
    async activity(
      @Ctx() ctx: Context,
      @Root() resource: AccessColumns,
      @Args(() => ChildPageArgs) page: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      const restricted = isRestricted(await accessLevel(ctx, resource));
      const where = restricted ? NOT_ABOUT_SHARES : undefined;
      const found = await ctx.read.childPage<Activity>(type, 'activity', resource, info, page, where);
      return restricted ? { ...found, items: found.items.map((activity) => ({ ...activity, data: {} })) } : found;
    }
  }
  return OwnedFields;
}

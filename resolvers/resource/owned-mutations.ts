import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Mutation, Resolver, type ClassType } from 'type-graphql';
import { Favorite } from '../../entities/favorite.ts';
import type { OwnedKind } from '../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import { ShareInput } from '../../entities/share-input.ts';
import { Share } from '../../entities/share.ts';
import { TagAssignment } from '../../entities/tag-assignment.ts';
import type { Context } from '../../src/core/context.ts';
import type { Permission } from '../../src/core/permissions.ts';
import * as favorites from '../../src/services/resource/favorite.ts';
import { ownerPermission, setOwner } from '../../src/services/resource/owned-kind.ts';
import * as shares from '../../src/services/resource/share.ts';
import * as tagging from '../../src/services/resource/tag-assignment.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PrincipalId } from './share.ts';

/** The mutation that shares a resource: its input class and its service. */
export interface ShareMutation {
  input: ClassType<ShareInput>;
  set(ctx: Context, id: string, principalId: string, input: ShareInput): Promise<string>;
}

const TagId = () => Arg('tagId', () => ID, { description: 'Id of the tag.' });

const withArticle = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);

/** Declares the mutations of a kind with owners, e.g. `tagDataset`. Returns the resolver class. */
export function ownedMutations<T extends OwnedRow>(
  ownedKind: OwnedKind<T>,
  shareMutation: ShareMutation = { input: ShareInput, set: (ctx, ...share) => shares.set(ctx, ownedKind, ...share) },
): NewableFunction {
  const { kind, what } = ownedKind;
  const noun = withArticle(what);
  const type = ownedKind.entity as ClassType<T>;

  @Resolver()
  class OwnedMutations {
    @Can(`${kind}:assignTags` as Permission)
    @Mutation(() => TagAssignment, {
      name: `tag${type.name}`,
      description: `Assigns a tag to ${noun}. Does nothing if it is already assigned.`,
    })
    async assignTag(
      @Ctx() ctx: Context,
      @Key(what) id: string,
      @TagId() tagId: string,
      @Info() info: GraphQLResolveInfo,
    ) {
      const { id: assignmentId, created } = await tagging.assign(ctx, ownedKind, id, tagId);
      return { ...(await ctx.read.readAfterWrite(TagAssignment, assignmentId, info)), created };
    }

    @Can(`${kind}:assignTags` as Permission)
    @Mutation(() => ID, {
      name: `untag${type.name}`,
      description: `Removes a tag from ${noun}. Returns the \`tagId\` argument.`,
    })
    async unassignTag(@Ctx() ctx: Context, @Key(what) id: string, @TagId() tagId: string) {
      await tagging.unassign(ctx, ownedKind, id, tagId);
      return tagId;
    }

    @Can(`${kind}:read` as Permission)
    @Mutation(() => Favorite, {
      name: `favorite${type.name}`,
      description: `Adds ${noun} to the favourites of the caller.`,
    })
    async addFavorite(@Ctx() ctx: Context, @Key(what) id: string, @Info() info: GraphQLResolveInfo) {
      return ctx.read.one(Favorite, { resourceId: await favorites.add(ctx, ownedKind, id) }, info);
    }

    @Can(`${kind}:read` as Permission)
    @Mutation(() => ID, {
      name: `unfavorite${type.name}`,
      description: `Removes ${noun} from the favourites of the caller. Returns the \`id\` argument.`,
    })
    async removeFavorite(@Ctx() ctx: Context, @Key(what) id: string) {
      await favorites.remove(ctx, ownedKind, id);
      return id;
    }

    @Can(shares.sharePermission(ownedKind))
    @Mutation(() => Share, {
      name: `share${type.name}`,
      description: `Shares ${noun} with a user or team, or updates the share.`,
    })
    async setShare(
      @Ctx() ctx: Context,
      @Key(what) id: string,
      @PrincipalId() principalId: string,
      @Arg('input', () => shareMutation.input, { description: 'The access to grant.' }) input: ShareInput,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.readAfterWrite(Share, await shareMutation.set(ctx, id, principalId, input), info);
    }

    @Can(shares.sharePermission(ownedKind))
    @Mutation(() => ID, {
      name: `unshare${type.name}`,
      description:
        `Deletes the share of a user or team on ${noun}. Access by ownership remains. ` +
        'Returns the `principalId` argument.',
    })
    async removeShare(@Ctx() ctx: Context, @Key(what) id: string, @PrincipalId() principalId: string) {
      await shares.remove(ctx, ownedKind, id, principalId);
      return principalId;
    }

    @Can(ownerPermission(ownedKind))
    @Mutation(() => type, {
      name: `set${type.name}Owner`,
      description: `Transfers ${noun} to another user or team. A transfer to a team requires the role \`memberPlus\` in it.`,
    })
    async setOwner(
      @Ctx() ctx: Context,
      @Key(what) id: string,
      @Arg('ownerId', () => ID, { description: 'New owner: `user:<id>`, `team:<id>`, a user id or a username.' })
      ownerId: string,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.readAfterWrite(type, await setOwner(ctx, ownedKind, id, ownerId), info);
    }
  }
  return OwnedMutations;
}

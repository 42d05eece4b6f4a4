import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { TagAssignment } from '../../entities/tag-assignment.ts';
import { CreateTagInput, UpdateTagInput } from '../../entities/tag-input.ts';
import { Tag } from '../../entities/tag.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as tags from '../../src/services/resource/tag.ts';
import { canChange } from '../../src/services/resource/unowned-kind.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const TagPage = pageOf(Tag, 'Tag');

@ObjectType({ description: 'The permissions of the caller on a tag. Its creator and superusers may change it.' })
class TagPermissions {
  @Field(() => Boolean, { description: 'Read the tag.' }) read!: boolean;
  @Field(() => Boolean, { description: 'Change the tag.' }) edit!: boolean;
  @Field(() => Boolean, { description: 'Delete the tag.' }) delete!: boolean;
}

const TagId = () => Arg('id', () => ID, { description: 'Id of the tag.' });

@Resolver(() => Tag)
export class TagResolver {
  @Can('authenticated')
  @Query(() => Tag, { nullable: true, description: 'Returns a tag.' })
  tag(@Ctx() ctx: Context, @TagId() id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Tag, id, info);
  }

  @Can('authenticated')
  @Query(() => TagPage, { description: 'Lists the tags of the tenant.' })
  tags(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Tag, page, info);
  }

  @Can('authenticated')
  @Mutation(() => Tag, { description: 'Creates a tag. All users can create tags.' })
  async createTag(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new tag.' }) input: CreateTagInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Tag, await tags.create(ctx, input), info);
  }

  @Can('tag:edit')
  @Mutation(() => Tag, { description: 'Updates a tag. Only its creator and superusers can update it.' })
  async updateTag(
    @Ctx() ctx: Context,
    @TagId() id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateTagInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Tag, await tags.update(ctx, id, input), info);
  }

  @Can('tag:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a tag and removes it from all resources. Only its creator and superusers can delete it. ' +
      'Returns the `id` argument.',
  })
  async deleteTag(@Ctx() ctx: Context, @TagId() id: string) {
    await tags.remove(ctx, id);
    return id;
  }

  @Requires('creatorId')
  @FieldResolver(() => TagPermissions, { description: 'The permissions of the caller.' })
  permissions(@Ctx() { viewer }: Context, @Root() { creatorId }: { creatorId: string | null }): TagPermissions {
    const mayChange = canChange(tags.TAG, viewer, creatorId);
    return { read: true, edit: mayChange, delete: mayChange };
  }
}

@Resolver(() => TagAssignment)
export class TagAssignmentResolver {
  @FieldResolver(() => Boolean, { description: 'Whether the mutation that returns it created it.' })
  created(@Root() { created }: { created?: boolean }): boolean {
    return created ?? false;
  }
}

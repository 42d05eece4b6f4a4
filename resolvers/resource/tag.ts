import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { TagAssignment } from '../../entities/tag-assignment.ts';
import { Tag } from '../../entities/tag.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as tags from '../../src/services/resource/tag.ts';
import { canChange } from '../../src/services/resource/unowned-kind.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const TagPage = pageOf(Tag, 'Tag');

/** Changes of a tag. */
@InputType({ description: 'Changes of a tag. Absent keys stay as they are, null clears.' })
export class UpdateTagInput {
  @Field(() => String, {
    nullable: true,
    description: 'The word, at most 100 characters, unique in the tenant, ignoring case.',
  })
  name?: string;

  @Field(() => String, {
    nullable: true,
    description: '`#rgb`, `#rrggbb` or a colour’s name in CSS, e.g. `rebeccapurple`.',
  })
  color?: string | null;

  @Field(() => String, { nullable: true, description: 'What it stands for.' })
  description?: string | null;
}

/** A new tag. */
@InputType({ description: 'A new tag.' })
export class CreateTagInput extends UpdateTagInput {
  @Field(() => String, { description: 'The word, at most 100 characters, unique in the tenant, ignoring case.' })
  override name!: string;
}

/** What the caller may do to a tag. */
@ObjectType({ description: 'What the caller may do to a tag: its creator and superusers change it.' })
export class TagPermissions {
  @Field(() => Boolean, { description: 'See it.' }) read!: boolean;
  @Field(() => Boolean, { description: 'Change it.' }) edit!: boolean;
  @Field(() => Boolean, { description: 'Delete it.' }) delete!: boolean;
}

const TagId = () => Arg('id', () => ID, { description: 'Id of the tag.' });

@Resolver(() => Tag)
export class TagResolver {
  @Can('authenticated')
  @Query(() => Tag, { description: 'One tag.' })
  tag(@Ctx() ctx: Context, @TagId() id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Tag, id, info);
  }

  @Can('authenticated')
  @Query(() => TagPage, { description: 'The tags of the tenant.' })
  tags(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Tag, page, info);
  }

  @Can('authenticated')
  @Mutation(() => Tag, { description: 'Makes a tag.' })
  async createTag(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new tag.' }) input: CreateTagInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Tag, await tags.create(ctx, input), info);
  }

  @Can('tag:edit')
  @Mutation(() => Tag, { description: 'Changes a tag, wherever it is assigned.' })
  async updateTag(
    @Ctx() ctx: Context,
    @TagId() id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateTagInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Tag, await tags.update(ctx, id, input), info);
  }

  @Can('tag:delete')
  @Mutation(() => ID, { description: 'Deletes a tag and takes it off every resource; answers its id as given.' })
  async deleteTag(@Ctx() ctx: Context, @TagId() id: string) {
    await tags.remove(ctx, id);
    return id;
  }

  @Requires('creatorId')
  @FieldResolver(() => TagPermissions, { description: 'What the caller may do to it.' })
  permissions(@Ctx() { viewer }: Context, @Root() { creatorId }: { creatorId: string | null }): TagPermissions {
    const may = canChange(tags.TAG, viewer, creatorId);
    return { read: true, edit: may, delete: may };
  }
}

@Resolver(() => TagAssignment)
export class TagAssignmentResolver {
  @FieldResolver(() => Boolean, { description: 'Whether the mutation that answers it made it.' })
  created(@Root() { created }: { created?: boolean }): boolean {
    return created ?? false;
  }
}

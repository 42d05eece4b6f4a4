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
import { CreateIntegrationInput, UpdateIntegrationInput } from '../../entities/integration-input.ts';
import { Integration } from '../../entities/integration.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import * as integrations from '../../src/services/library/integration.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const IntegrationPage = pageOf(Integration, 'Integration');

@ObjectType({ description: 'Permissions of the caller on an integration.' })
class IntegrationPermissions {
  @Field(() => Boolean, { description: 'Read the integration.' })
  read!: boolean;

  @Field(() => Boolean, { description: 'Change the integration.' })
  edit!: boolean;

  @Field(() => Boolean, { description: 'Delete the integration.' })
  delete!: boolean;
}

@Resolver(() => Integration)
export class IntegrationResolver {
  @Can('authenticated')
  @Query(() => Integration, { nullable: true, description: 'Returns an integration.' })
  integration(@Ctx() ctx: Context, @Id('integration') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Integration, id, info);
  }

  @Can('authenticated')
  @Query(() => IntegrationPage, {
    description:
      'Lists the integrations of the tenant, and the integrations of single libraries that the caller may read.',
  })
  integrations(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Integration, page, info);
  }

  @Can('libraries:create')
  @Mutation(() => Integration, {
    description: 'Creates an integration. The provider is called at the first authorization.',
  })
  async createIntegration(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new integration.' }) input: CreateIntegrationInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Integration, await integrations.create(ctx, input), info);
  }

  @Can('integration:edit')
  @Mutation(() => Integration, {
    description: 'Updates an integration. Only its creator and superusers can update it.',
  })
  async updateIntegration(
    @Ctx() ctx: Context,
    @Id('integration') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateIntegrationInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Integration, await integrations.update(ctx, id, input), info);
  }

  @Can('integration:delete')
  @Mutation(() => ID, {
    description:
      'Deletes an integration. Only its creator and superusers can delete it. Fails with `CONFLICT` while libraries use ' +
      'it. Returns the `id` argument.',
  })
  async deleteIntegration(@Ctx() ctx: Context, @Id('integration') id: string) {
    await integrations.remove(ctx, id);
    return id;
  }

  @Requires('ownLibraryId')
  @UuidField()
  @FieldResolver(() => ID, {
    nullable: true,
    description: 'Id of its library; null unless it is embedded.',
  })
  libraryId(@Root() { ownLibraryId }: Pick<Integration, 'ownLibraryId'>) {
    return ownLibraryId ?? null;
  }

  @Requires('creatorId', 'library.ownerId')
  @FieldResolver(() => IntegrationPermissions, { description: 'Permissions of the caller on the integration.' })
  async permissions(
    @Ctx() ctx: Context,
    @Root() integration: Pick<Integration, 'creatorId'> & { library?: { id: string; ownerId: string } | null },
  ): Promise<IntegrationPermissions> {
    const isEditable = await integrations.isEditable(ctx, integration);
    return { read: true, edit: isEditable, delete: isEditable };
  }
}

import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
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
import { DatasourceLink, DatasourceLinkTypeEnum, type DatasourceLinkType } from '../../entities/datasource-link.ts';
import { Datasource } from '../../entities/datasource.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as links from '../../src/services/datasource/datasource-link.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

/** What a link can mean. */
@ObjectType({ description: 'What a link between datasources can mean.' })
export class LinkType {
  @Field(() => ID, { description: 'The `type` of its links, as REST spells it.' }) id!: string;
  @Field(() => String, { description: 'Name to show.' }) name!: string;
  @Field(() => String, { description: 'What it means.' }) description!: string;
}

/** A new link. */
@InputType({ description: 'A new link between datasources.' })
export class CreateDatasourceLinkInput {
  @Field(() => ID, {
    description: 'The datasource it leads to: one that the caller may read, which may be the source itself.',
  })
  targetDatasourceId!: string;

  @Field(() => DatasourceLinkTypeEnum, { description: 'How the fields belong together.' })
  type!: DatasourceLinkType;

  @Field(() => JsonObject, { nullable: true, description: 'Source field to target field; at most 100.' })
  mappings?: Record<string, unknown>;
}

const LinkId = () => Arg('linkId', () => ID, { description: 'Id of the link.' });

@Resolver(() => Datasource)
export class DatasourceLinkFields {
  @Can('authenticated')
  @Query(() => [LinkType], { description: 'What links between datasources can mean.' })
  linkTypes(): readonly LinkType[] {
    return links.LINK_TYPES;
  }

  @Can('datasource:write')
  @Mutation(() => DatasourceLink, { description: 'Links a datasource to one that the caller may read.' })
  async createDatasourceLink(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'The new link.' }) input: CreateDatasourceLinkInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(DatasourceLink, await links.create(ctx, id, input), info);
  }

  @Can('datasource:write')
  @Mutation(() => ID, { description: 'Takes a link of a datasource away; answers the link’s id as given.' })
  async deleteDatasourceLink(@Ctx() ctx: Context, @Key('datasource') id: string, @LinkId() linkId: string) {
    await links.remove(ctx, id, linkId);
    return linkId;
  }

  @FieldResolver(() => [DatasourceLink], {
    description: 'The links that lead from it to datasources that the caller may read, the eldest first.',
  })
  links(@Ctx() ctx: Context, @Root() datasource: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.children(Datasource, 'links', datasource, info);
  }

  @FieldResolver(() => DatasourceLink, { description: 'One of the links that lead from it.' })
  async link(
    @Ctx() ctx: Context,
    @Root() { id }: { id: string },
    @LinkId() linkId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const link = await ctx.read.find(DatasourceLink, { id: linkId, sourceDatasourceId: id }, info);
    if (!link) throw notFound({ what: 'link', id: linkId });
    return link;
  }
}

@Resolver(() => DatasourceLink)
export class DatasourceLinkResolver {
  @FieldResolver(() => Datasource, { description: 'The datasource it leads to.' })
  target(@Root() { target }: { target: Datasource }) {
    return target;
  }
}

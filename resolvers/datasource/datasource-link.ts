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
import { CreateDatasourceLinkInput } from '../../entities/datasource-link-input.ts';
import { DatasourceLink } from '../../entities/datasource-link.ts';
import { Datasource } from '../../entities/datasource.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import * as links from '../../src/services/datasource/datasource-link.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, partOf } from '../support/page.ts';

@ObjectType({ description: 'A type of link between datasources.' })
class LinkType {
  @Field(() => ID, { description: 'Value of `type` in REST.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Description.' })
  description!: string;
}

const LinkId = () => Arg('linkId', () => ID, { description: 'Id of the link.' });

@Resolver(() => Datasource)
export class DatasourceLinkFields {
  @Can('authenticated')
  @Query(() => [LinkType], { description: 'Lists the types of links between datasources.' })
  linkTypes(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs): readonly LinkType[] {
    return partOf(ctx, links.LINK_TYPES, page);
  }

  @Can('datasource:write')
  @Mutation(() => DatasourceLink, { description: 'Links a datasource to one that the caller can read.' })
  async createDatasourceLink(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'The new link.' }) input: CreateDatasourceLinkInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(DatasourceLink, await links.create(ctx, id, input), info);
  }

  @Can('datasource:write')
  @Mutation(() => ID, { description: 'Deletes a link of a datasource. Returns the `linkId` argument.' })
  async deleteDatasourceLink(@Ctx() ctx: Context, @Key('datasource') id: string, @LinkId() linkId: string) {
    await links.remove(ctx, id, linkId);
    return linkId;
  }

  @FieldResolver(() => [DatasourceLink], {
    description: 'Links from this datasource to datasources that the caller can read, oldest first.',
  })
  links(
    @Ctx() ctx: Context,
    @Root() datasource: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Datasource, 'links', datasource, info, page);
  }

  @FieldResolver(() => DatasourceLink, { nullable: true, description: 'A link from this datasource, by its id.' })
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
  @FieldResolver(() => Datasource, {
    nullable: true,
    description: 'Datasource the link points to. Null if the caller cannot read it.',
  })
  target(@Root() { target }: { target: Datasource | null }) {
    return target;
  }
}

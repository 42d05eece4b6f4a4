import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Datasource } from '../../entities/datasource.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as probes from '../../src/services/datasource/datasource-probe.ts';
import * as datasources from '../../src/services/datasource/datasource.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { DATASOURCE } from '../../src/services/resource/owned-kinds.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';
import {
  AdHocQueryInput,
  ConnectionTest,
  CreateDatasourceInput,
  DatasourceDriver,
  DatasourceFile,
  DatasourceSchema,
  UpdateDatasourceInput,
} from './datasource-types.ts';
import { QueryResult } from './query-result.ts';

const DatasourcePage = pageOf(Datasource, 'Datasource');

export const DatasourceOwnedFields = ownedFields(DATASOURCE);

@Resolver(() => Datasource)
export class DatasourceResolver {
  @Can('authenticated')
  @Query(() => [DatasourceDriver], { description: 'The kinds of sources that this service can read.' })
  datasourceDrivers(@Ctx() { platform }: Context): DatasourceDriver[] {
    return [...platform.drivers.values()];
  }

  @Can('authenticated')
  @Query(() => Datasource, { description: 'One datasource.' })
  datasource(@Ctx() ctx: Context, @Key('datasource') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Datasource, id, info);
  }

  @Can('authenticated')
  @Query(() => DatasourcePage, { description: 'The datasources that the caller may read.' })
  async datasources(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Datasource, await resolveListArguments(ctx, page), info);
  }

  @Can('datasources:create')
  @Mutation(() => Datasource, { description: 'Makes a datasource. The connection is not tried.' })
  async createDatasource(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new datasource.' }) input: CreateDatasourceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Datasource, await datasources.create(ctx, input), info);
  }

  @Can('datasource:write')
  @Mutation(() => Datasource, { description: 'Changes a datasource.' })
  async updateDatasource(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateDatasourceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Datasource, await datasources.update(ctx, id, input), info);
  }

  @Can('datasource:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a datasource that no query and no dataset uses; answers its id as given. Suites lose it, and its links go with it.',
  })
  async deleteDatasource(@Ctx() ctx: Context, @Key('datasource') id: string) {
    await datasources.remove(ctx, id);
    return id;
  }

  @Can('datasource:write')
  @Mutation(() => ConnectionTest, {
    description: 'Tries the connection. A source that cannot be used is an answer, not an error.',
  })
  testDatasource(@Ctx() ctx: Context, @Key('datasource') id: string) {
    return probes.test(ctx, id);
  }

  @Can('datasource:write')
  @Mutation(() => QueryResult, { description: 'Runs a query, read-only. Nothing of it is kept.' })
  queryDatasource(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'The query.' }) input: AdHocQueryInput,
  ) {
    return probes.query(ctx, id, input);
  }

  @Requires('config', 'id', 'ownerId')
  @FieldResolver(() => JsonObject, {
    description:
      'Where it is: host, port, database, user and what else the driver’s JSON Schema names. No secrets. Empty to those who may not write it.',
  })
  async config(@Ctx() ctx: Context, @Root() datasource: Pick<Datasource, 'config' | 'id' | 'ownerId'>) {
    return levelAllows(await accessLevel(ctx, datasource), 'datasource:write') ? datasource.config : {};
  }

  @Requires('storedFile.filename', 'storedFile.size', 'storedFile.contentType')
  @FieldResolver(() => DatasourceFile, {
    nullable: true,
    description: 'The uploaded file that it is; null for servers.',
  })
  file(@Root() { storedFile }: { storedFile?: DatasourceFile | null }) {
    return storedFile ?? null;
  }

  @Requires('id')
  @FieldResolver(() => DatasourceSchema, {
    description: 'Its tables and views, asked for now. Needs `datasource:run`.',
  })
  async schema(@Ctx() ctx: Context, @Root() { id }: { id: string }) {
    return { tables: await probes.schema(ctx, id) };
  }
}

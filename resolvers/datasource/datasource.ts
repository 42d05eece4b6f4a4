import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { AdHocQueryInput, CreateDatasourceInput, UpdateDatasourceInput } from '../../entities/datasource-input.ts';
import { Datasource } from '../../entities/datasource.ts';
import { DATASOURCE } from '../../entities/owned-kinds.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as probes from '../../src/services/datasource/datasource-probe.ts';
import * as datasources from '../../src/services/datasource/datasource.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, OwnedPageArgs, pageOf, partOf } from '../support/page.ts';
import {
  ConnectionTestType,
  DatasourceDriver,
  DatasourceFile,
  DatasourceSchema,
  UploadProblemType,
} from './datasource-types.ts';
import { QueryResultType } from './query-result.ts';

const DatasourcePage = pageOf(Datasource, 'Datasource');

export const DatasourceOwnedFields = ownedFields(DATASOURCE);

@Resolver(() => Datasource)
export class DatasourceResolver {
  @Can('authenticated')
  @Query(() => [DatasourceDriver], { description: 'Lists the types of datasources that the service can read.' })
  datasourceDrivers(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs): readonly DatasourceDriver[] {
    return partOf(ctx, [...ctx.platform.drivers.values()], page);
  }

  @Can('authenticated')
  @Query(() => Datasource, { nullable: true, description: 'Returns a datasource.' })
  datasource(@Ctx() ctx: Context, @Key('datasource') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Datasource, id, info);
  }

  @Can('authenticated')
  @Query(() => DatasourcePage, { description: 'Lists the datasources that the caller can read.' })
  async datasources(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Datasource, await resolveListArguments(ctx, page), info);
  }

  @Can('datasources:create')
  @Mutation(() => Datasource, { description: 'Creates a datasource. The connection is not tested.' })
  async createDatasource(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new datasource.' }) input: CreateDatasourceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Datasource, await datasources.create(ctx, input), info);
  }

  @Can('datasource:write')
  @Mutation(() => Datasource, { description: 'Updates a datasource. The connection is not tested.' })
  async updateDatasource(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'Values to change.' }) input: UpdateDatasourceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Datasource, await datasources.update(ctx, id, input), info);
  }

  @Can('datasource:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a datasource with its links and removes it from suites. Returns the `id` argument. ' +
      'Fails with `CONFLICT` while a saved query or dataset uses it.',
  })
  async deleteDatasource(@Ctx() ctx: Context, @Key('datasource') id: string) {
    await datasources.remove(ctx, id);
    return id;
  }

  @Can('datasource:write')
  @Mutation(() => ConnectionTestType, {
    description:
      'Tests the connection of a datasource. A failed connection is a result with `ok: false`, not an error.',
  })
  testDatasource(@Ctx() ctx: Context, @Key('datasource') id: string) {
    return probes.testConnection(ctx, id);
  }

  @Can('datasource:write')
  @Mutation(() => QueryResultType, { description: 'Runs a read-only query on a datasource. Nothing is stored.' })
  queryDatasource(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'The query to run.' }) input: AdHocQueryInput,
  ) {
    return probes.runAdHocQuery(ctx, id, input);
  }

  @Requires('config', 'id', 'ownerId')
  @FieldResolver(() => JsonObject, {
    description:
      'Connection settings as defined by the JSON Schema of the driver, e.g. host, port, database and user. ' +
      'Contains no secrets. Empty without the permission `datasource:write`.',
  })
  async config(@Ctx() ctx: Context, @Root() datasource: Pick<Datasource, 'config' | 'id' | 'ownerId'>) {
    return levelAllows(await accessLevel(ctx, datasource), 'datasource:write') ? datasource.config : {};
  }

  @Requires('problems', 'id', 'ownerId')
  @FieldResolver(() => [UploadProblemType], {
    description:
      'Doubts about the uploaded file, as in the preview of an upload. Empty for a database server, after a ' +
      'change of `config`, and without the permission `datasource:write`.',
  })
  async problems(@Ctx() ctx: Context, @Root() datasource: Pick<Datasource, 'problems' | 'id' | 'ownerId'>) {
    return levelAllows(await accessLevel(ctx, datasource), 'datasource:write') ? datasource.problems : [];
  }

  @Requires('storedFile.filename', 'storedFile.size', 'storedFile.contentType')
  @FieldResolver(() => DatasourceFile, {
    nullable: true,
    description: 'Uploaded file that the datasource reads. Null for a database server.',
  })
  file(@Root() { storedFile }: { storedFile?: DatasourceFile | null }) {
    return storedFile ?? null;
  }

  @Requires('id')
  @FieldResolver(() => DatasourceSchema, {
    description: 'Tables and views, read from the datasource on each request. Requires `datasource:run`.',
  })
  async schema(@Ctx() ctx: Context, @Root() { id }: { id: string }) {
    return { tables: await probes.listTables(ctx, id) };
  }
}

import { Args, ArgsType, Ctx, Field, FieldResolver, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { AppMigration, AppMigrationRun } from '../../entities/app-migration.ts';
import { App } from '../../entities/app.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as migrations from '../../src/services/app/app-migration.ts';
import { checkMayWrite } from '../../src/services/app/app-part.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, partOf } from '../support/page.ts';

@ObjectType({ description: 'A run of the migrations of an app: its operation and, if the call waited, its result.' })
class AppMigrationPayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: Operation;

  @Field(() => AppMigrationRun, { nullable: true, description: 'Result; null if the call did not wait.' })
  result!: AppMigrationRun | null;
}

@ArgsType()
class MigrateArgs extends OperationArgs {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether everything is undone at the end, to find out whether the migrations can run.',
  })
  dryRun?: boolean;
}

@Resolver(() => App)
export class AppMigrationResolver {
  @Requires('id', 'ownerId', 'schemaName')
  @FieldResolver(() => [AppMigration], {
    description: 'Migrations, in the order in which they run. Requires `app:write`.',
  })
  async migrations(
    @Ctx() ctx: Context,
    @Root() app: Pick<App, 'id' | 'ownerId' | 'schemaName'>,
    @Args(() => ChildPageArgs) page: ChildPageArgs,
  ): Promise<readonly AppMigration[]> {
    await checkMayWrite(ctx, app);
    return partOf(ctx, await migrations.listMigrations(ctx, app), page);
  }

  @Can('app:write')
  @Mutation(() => AppMigrationPayload, {
    description:
      'Runs the migrations of an app that have not run: its files `migrations/*.sql`, ordered by name, each in its own ' +
      'transaction. The first run creates the schema of the app, and a datasource that reads it. A file that fails is ' +
      'undone; earlier files remain applied.',
  })
  async migrateApp(
    @Ctx() ctx: Context,
    @Key('app') id: string,
    @Args(() => MigrateArgs) { wait, ...options }: MigrateArgs,
  ) {
    return toPayload(await migrations.migrate(ctx, id, options, wait));
  }
}

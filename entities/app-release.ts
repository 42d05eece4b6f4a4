import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { AppAccess } from './app-access.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

@ObjectType({ description: 'A route that a module of an app handles.' })
export class AppRoute {
  @Field(() => String, { description: 'Method in lower case, e.g. `get`.' })
  method!: string;

  @Field(() => String, { description: 'Path below `view` or `_hook`. Parameters start with `:`, e.g. `/orders/:id`.' })
  path!: string;

  @Field(() => String, { description: 'Path of the module, e.g. `server/orders/[id].ts`.' })
  handlerPath!: string;

  @Field(() => JsonObject, { description: 'The `config` of the module; for webhooks with `public: true`.' })
  config!: Record<string, unknown>;
}

/** See docs/contract/apps.md#code-of-apps. */
@ObjectType({ description: 'The code of an app as it was deployed. It never changes.', implements: Node })
@Entity()
export class AppRelease extends TenantRow {
  @Field(() => ID, { description: 'Id of the app.' })
  @Property({ type: 'uuid' })
  appId!: string;

  @Field(() => Int, {
    description: 'Number, from 1. Each release of an app has a higher number than the releases before it.',
  })
  @Property({ type: 'integer' })
  number!: number;

  @Field(() => Boolean, { description: 'Whether requests run this release.' })
  @Property({ type: 'boolean' })
  active: boolean = false;

  @Field(() => DateTime, { description: 'Time of the deployment.' })
  @Property({ type: 'timestamptz' })
  deployedAt!: Date;

  @Field(() => ID, { nullable: true, description: 'Id of the user who deployed it; null for a deleted user.' })
  @Property({ type: 'uuid', nullable: true })
  deployedBy?: string | null;

  @Field(() => [AppRoute], { description: 'Routes below `view`, in the order in which they are matched.' })
  @Property({ type: 'json' })
  routes: AppRoute[] = [];

  @Field(() => [AppRoute], { description: 'Routes below `_hook`, in the order in which they are matched.' })
  @Property({ type: 'json' })
  webhooks: AppRoute[] = [];

  @Field(() => AppAccess, { description: 'Declared use of callers’ rights by its code.' })
  @Property({ type: 'json' })
  access: AppAccess = new AppAccess();
}

@ObjectType({ description: 'The result of a deployment of an app.' })
export class AppDeployment {
  @UuidField()
  @Field(() => ID, { description: 'Id of the new release.' })
  releaseId!: string;

  @Field(() => [String], { description: 'Names of the migrations that ran, in order.' })
  migrated!: string[];

  @Field(() => Int, { description: 'Number of migrations of the app, including earlier runs.' })
  total!: number;

  @Field(() => [AppRoute], { description: 'Routes below `view`, in the order in which they are matched.' })
  routes!: AppRoute[];

  @Field(() => [AppRoute], { description: 'Routes below `_hook`, in the order in which they are matched.' })
  webhooks!: AppRoute[];

  @Field(() => DateTime, { description: 'Time of the deployment.' })
  deployedAt!: Date;
}

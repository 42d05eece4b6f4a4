import { Args, Ctx, Field, FieldResolver, ID, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { Job } from '../../entities/job.ts';
import type { Context } from '../../src/core/context.ts';
import type { DriverDescription } from '../../src/core/job-drivers.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { JOB_ACTION_DRIVERS, JOB_DRIVERS, jobDriverOf } from '../../src/services/job/drivers/driver-registry.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, partOf } from '../support/page.ts';

@ObjectType({ description: 'A type of jobs.' })
export class JobDriver implements DriverDescription {
  @Field(() => ID, { description: 'The type of its jobs.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Description.' })
  description!: string;

  @Field(() => JsonObject, { description: 'JSON Schema of the `data` of its jobs.' })
  schema!: Record<string, unknown>;
}

@ObjectType({ description: 'A type of actions of jobs.' })
export class JobActionDriver implements DriverDescription {
  @Field(() => ID, { description: 'The type of its actions.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Description.' })
  description!: string;

  @Field(() => JsonObject, { description: 'JSON Schema of the `data` of its actions.' })
  schema!: Record<string, unknown>;
}

@Resolver(() => Job)
export class JobDriverResolver {
  @Can('authenticated')
  @Query(() => [JobDriver], { description: 'Lists the types of jobs.' })
  jobDrivers(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs) {
    return partOf(ctx, JOB_DRIVERS, page);
  }

  @Can('authenticated')
  @Query(() => [JobActionDriver], { description: 'Lists the types of actions of jobs.' })
  jobActionDrivers(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs) {
    return partOf(ctx, JOB_ACTION_DRIVERS, page);
  }

  @Requires('type')
  @FieldResolver(() => JobDriver, { description: 'The driver of the job.' })
  driver(@Root() { type }: Pick<Job, 'type'>) {
    return jobDriverOf(type);
  }
}

import { Args, ArgsType, Ctx, Field, Float, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { DateTime } from '../../src/core/scalars.ts';
import * as usage from '../../src/services/client/field-usage-report.ts';
import { Can } from '../support/guard.ts';
import { PageLimit, PageStart, pageOf } from '../support/page.ts';

@ObjectType({ description: 'Requests of a client for a document that uses a part of the schema.' })
class FieldUsage {
  @Field(() => String, {
    description: 'Coordinate in the schema, e.g. `Query.me`, `Query.tags(limit:)` or `UserPage`.',
  })
  coordinate!: string;

  @Field(() => String, { nullable: true, description: 'Name of the client. Null if the requests named none.' })
  client!: string | null;

  @Field(() => String, { nullable: true, description: 'Version of the client. Null if the requests named none.' })
  clientVersion!: string | null;

  @Field(() => String, { description: 'SHA-256 of the document in hexadecimal.' })
  document!: string;

  @Field(() => String, { nullable: true, description: 'Name of the operation. Null if it has none.' })
  operationName!: string | null;

  @Field(() => Float, { description: 'Number of requests.' })
  requests!: number;

  @Field(() => DateTime, { description: 'Time of the first request.' })
  firstSeenAt!: Date;

  @Field(() => DateTime, { description: 'Time of the last request.' })
  lastSeenAt!: Date;
}

const FieldUsagePage = pageOf(FieldUsage, 'FieldUsage');

/** Filters and page of the usage of fields. Absent filters do not restrict. */
@ArgsType()
class FieldUsageArgs {
  @Field(() => String, { nullable: true, description: 'Only this coordinate in the schema.' })
  coordinate?: string;

  @Field(() => String, { nullable: true, description: 'Only this client; empty for requests that named none.' })
  client?: string;

  @Field(() => String, { nullable: true, description: 'Only the document with this SHA-256.' })
  document?: string;

  @Field(() => DateTime, { nullable: true, description: 'Only requests from the UTC day of this time on.' })
  from?: Date;

  @Field(() => DateTime, { nullable: true, description: 'Only requests before the UTC day of this time.' })
  to?: Date;

  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

@Resolver()
export class FieldUsageResolver {
  @Can('tenant:superuser')
  @Query(() => FieldUsagePage, {
    description:
      'Lists the parts of the schema that clients have used in the last 90 days, by coordinate, client, version and document. ' +
      'Requests are counted when they are valid and permitted, and written every minute.',
  })
  fieldUsage(@Ctx() ctx: Context, @Args(() => FieldUsageArgs) args: FieldUsageArgs) {
    return usage.findFieldUsage(ctx, args);
  }
}

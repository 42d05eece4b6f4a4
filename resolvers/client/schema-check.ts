import { Arg, Ctx, Field, Float, Int, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { DateTime } from '../../src/core/scalars.ts';
import { checkSchema } from '../../src/services/client/schema-check.ts';
import { Can } from '../support/guard.ts';

const SchemaCriticalityEnum = { BREAKING: 'BREAKING', DANGEROUS: 'DANGEROUS' } as const;
type SchemaCriticality = keyof typeof SchemaCriticalityEnum;
registerEnumType(SchemaCriticalityEnum, {
  name: 'SchemaCriticality',
  description: 'Effect of a change of the schema on clients.',
  valuesConfig: {
    BREAKING: { description: 'Requests that use the changed part fail.' },
    DANGEROUS: { description: 'Requests that use the changed part may have another result.' },
  },
});

@ObjectType({ description: 'A client that used a changed part of the schema in the last 90 days.' })
class SchemaChangeClient {
  @Field(() => String, { nullable: true, description: 'Name of the client. Null if the requests named none.' })
  name!: string | null;

  @Field(() => String, { nullable: true, description: 'Version of the client. Null if the requests named none.' })
  version!: string | null;

  @Field(() => Float, { description: 'Number of its requests.' })
  requests!: number;

  @Field(() => DateTime, { description: 'Time of the first request.' })
  firstSeenAt!: Date;

  @Field(() => DateTime, { description: 'Time of the last request.' })
  lastSeenAt!: Date;
}

@ObjectType({ description: 'A change of the schema that may affect clients, and who used the changed part.' })
class SchemaChange {
  @Field(() => SchemaCriticalityEnum, { description: 'Effect on clients.' })
  criticality!: SchemaCriticality;

  @Field(() => String, { description: 'Kind of the change, e.g. `FIELD_REMOVED`.' })
  type!: string;

  @Field(() => String, { description: 'The change in a sentence.' })
  description!: string;

  @Field(() => String, { description: 'Coordinate of the changed part, e.g. `User.email`.' })
  coordinate!: string;

  @Field(() => Boolean, { description: 'Whether a client used the changed part in the last 90 days.' })
  isUsed!: boolean;

  @Field(() => Float, { description: 'Number of requests that used it.' })
  requests!: number;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last request that used it.' })
  lastSeenAt!: Date | null;

  @Field(() => [SchemaChangeClient], { nullable: true, description: 'Clients that used it. Superusers only.' })
  clients!: SchemaChangeClient[] | null;
}

@ObjectType({ description: 'Comparison of a schema with the one of the service.' })
class SchemaCheck {
  @Field(() => Int, { description: 'Number of breaking changes.' })
  breaking!: number;

  @Field(() => Int, { description: 'Number of breaking changes of parts that clients used in the last 90 days.' })
  breakingUsed!: number;

  @Field(() => Int, { description: 'Number of dangerous changes.' })
  dangerous!: number;

  @Field(() => [SchemaChange], { description: 'The changes, first the breaking ones.' })
  changes!: SchemaChange[];
}

@Resolver()
export class SchemaCheckResolver {
  @Can('authenticated')
  @Query(() => SchemaCheck, {
    description:
      'Compares a schema with the one of the service. Returns the changes that may affect clients, and who used the changed ' +
      'parts in the last 90 days.',
  })
  async schemaCheck(
    @Ctx() ctx: Context,
    @Arg('schema', { description: 'SDL of the new schema, of at most 2 MiB.' }) schema: string,
  ): Promise<SchemaCheck> {
    const changes = await checkSchema(ctx, schema);
    const breaking = changes.filter(({ criticality }) => criticality === 'BREAKING');
    const dangerous = changes.filter(({ criticality }) => criticality === 'DANGEROUS');
    return {
      breaking: breaking.length,
      breakingUsed: breaking.filter(({ isUsed }) => isUsed).length,
      dangerous: dangerous.length,
      changes: [...breaking, ...dangerous],
    };
  }
}

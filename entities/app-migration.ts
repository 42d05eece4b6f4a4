import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';

const AppMigrationStatusEnum = { APPLIED: 'applied', PENDING: 'pending' } as const;
export type AppMigrationStatus = (typeof AppMigrationStatusEnum)[keyof typeof AppMigrationStatusEnum];
registerEnumType(AppMigrationStatusEnum, {
  name: 'AppMigrationStatus',
  description: 'Whether a migration of an app has run.',
  valuesConfig: {
    APPLIED: { description: 'It has run.' },
    PENDING: { description: 'The next run executes it.' },
  },
});

@ObjectType({ description: 'A migration of an app: a file `migrations/*.sql`.' })
export class AppMigration {
  @Field(() => String, { description: 'Name of the file in the folder `migrations`.' })
  filename!: string;

  @Field(() => AppMigrationStatusEnum, { description: 'Whether it has run.' })
  status!: AppMigrationStatus;

  @Field(() => DateTime, { nullable: true, description: 'Time at which it ran; null if it has not.' })
  appliedAt!: Date | null;
}

@ObjectType({ description: 'The result of a run of the migrations of an app.' })
export class AppMigrationRun {
  @Field(() => [String], { description: 'Names of the files that ran, in order.' })
  migrated!: string[];

  @Field(() => Int, { description: 'Number of migrations of the app, including earlier runs.' })
  total!: number;
}

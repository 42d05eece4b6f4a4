import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

export const AppStatusEnum = { DRAFT: 'draft', DEPLOYED: 'deployed', FAILED: 'failed' } as const;
export type AppStatus = (typeof AppStatusEnum)[keyof typeof AppStatusEnum];
registerEnumType(AppStatusEnum, {
  name: 'AppStatus',
  description: 'How far an app has come.',
  valuesConfig: {
    DRAFT: { description: 'It was never deployed.' },
    DEPLOYED: { description: 'It is deployed.' },
    FAILED: { description: 'Its last deployment failed.' },
  },
});

/** Code of the customer's own that runs in the service, with a database schema of its own (contract 5). */
@ObjectType({
  description: 'Code of the customer’s own that runs in the service, with a database schema of its own.',
  implements: Node,
})
@Entity()
export class App extends OwnedRow {
  /** Encrypted JSON of the environment, pairs of name and value; write-only. Null when there is none. */
  @Property({ type: 'text', nullable: true, lazy: true })
  env?: string | null;

  /** The names in `env`, in the order of the alphabet. */
  @Property({ type: 'json' })
  envNames: string[] = [];

  @Field(() => AppStatusEnum, { description: 'How far it has come.' })
  @Enum({ items: () => Object.values(AppStatusEnum), type: 'text' })
  status: AppStatus = 'draft';

  @Field(() => DateTime, { nullable: true, description: 'When it was last deployed; null before.' })
  @Property({ type: 'timestamptz', nullable: true })
  deployedAt?: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'The database schema that is its own; null until its first migration.',
  })
  @Property({ type: 'text', nullable: true })
  schemaName?: string | null;
}

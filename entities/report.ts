import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** What a report shows: its blocks from top to bottom. A block's further keys are its type's. */
export interface ReportDefinition extends Record<string, unknown> {
  blocks: ({ id: string } & Record<string, unknown>)[];
}

/** Blocks of text and data that people read together (contract 5). */
@ObjectType({ description: 'Blocks of text and data that people read together.', implements: Node })
@Entity()
export class Report extends OwnedRow {
  @Field(() => JsonObject, {
    description: 'What it shows: `{"blocks": [{"id": "…", "type": "…", …}]}`, from top to bottom.',
  })
  @Property({ type: 'json' })
  definition: ReportDefinition = { blocks: [] };

  @Field(() => JsonObject, { description: 'How it is shown, as its clients agree.' })
  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};
}

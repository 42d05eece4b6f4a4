import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** Content of a report: its blocks from top to bottom. The other keys of a block depend on its type. */
export interface ReportDefinition extends Record<string, unknown> {
  blocks: ({ id: string } & Record<string, unknown>)[];
}

/** See docs/contract/datasets.md#reports. */
@ObjectType({ description: 'A document of text and data blocks.', implements: Node })
@Entity()
export class Report extends OwnedRow {
  /** Contains names of fields that may be hidden from the viewer. */
  @Property({ type: 'json' })
  definition: ReportDefinition = { blocks: [] };

  @Field(() => JsonObject, { description: 'Display settings of client applications. Not interpreted by the service.' })
  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};
}

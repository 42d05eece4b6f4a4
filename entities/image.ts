import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/agents.md#images. */
@ObjectType({
  description:
    'An image that a model has created. The user who requested it sees it, and all who may read its assistant. Deleted ' +
    'after 90 days.',
  implements: Node,
})
@Entity()
export class Image extends TenantRow {
  @Field(() => ID, { nullable: true, description: 'Id of the user who requested it; null if the user is deleted.' })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the assistant that it belongs to; null if it has none.' })
  @Property({ type: 'uuid', nullable: true })
  assistantId?: string | null;

  /** Id of the stored file with the contents. */
  @Property({ type: 'uuid' })
  fileId!: string;

  /** The encrypted prompt. */
  @Property({ type: 'text' })
  sealedPrompt!: string;

  @Field(() => String, { description: 'Id of the model that created it.' })
  @Property({ type: 'text' })
  model!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Requested size, e.g. `1024x1024`; null for a model without sizes.',
  })
  @Property({ type: 'text', nullable: true })
  size?: string | null;

  @Field(() => String, { description: 'Media type of the contents: `image/png`, `image/jpeg` or `image/webp`.' })
  contentType!: string;

  @Field(() => Float, { description: 'Size of the contents in bytes.' })
  bytes!: number;

  @Field(() => String, { description: 'SHA-256 of the contents, in hexadecimal.' })
  sha256!: string;
}

import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { newId } from '../src/core/id.ts';
import { DateTime } from '../src/core/scalars.ts';
import { WholeNumber } from '../src/core/whole-number.ts';
import { Node } from './node.ts';

/** See docs/contract/apps.md#records-of-apps. */
@ObjectType({
  description: 'A call of a webhook of an app. The last 10,000 calls of an app are kept, for 30 days.',
  implements: Node,
})
@Entity()
export class WebhookCall {
  @Field(() => ID, { description: 'UUID, version 7.' })
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  tenantId!: string;

  @Field(() => ID, { description: 'Id of the app.' })
  @Property({ type: 'uuid' })
  appId!: string;

  @Field(() => DateTime, { description: 'Time at which it ended.' })
  @Property({ type: 'timestamptz' })
  at!: Date;

  @Field(() => String, { description: 'Method of the request in lower case, e.g. `post`.' })
  @Property({ type: 'text' })
  method!: string;

  @Field(() => String, { description: 'Path of the request below `_hook`, e.g. `/orders/7`.' })
  @Property({ type: 'text' })
  path!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the route, e.g. `/orders/:id`. Null if no route has the path and method.',
  })
  @Property({ type: 'text', nullable: true })
  route?: string | null;

  @Field(() => Int, { description: 'HTTP status of the response. 499 if the caller disconnected.' })
  @Property({ type: 'integer' })
  status!: number;

  @WholeNumber()
  @Field(() => Float, { description: 'Milliseconds until the response.' })
  @Property({ type: 'double' })
  duration!: number;

  @Field(() => Float, { description: 'Peak memory of the handler, in bytes. 0 if no handler ran.' })
  @Property({ type: 'bigint' })
  peakMemory!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Error message for authors of the app. Null if the call did not fail.',
  })
  @Property({ type: 'text', nullable: true })
  error?: string | null;

  @Field(() => String, { description: 'Id of the request, as in its header `x-request-id`.' })
  @Property({ type: 'text' })
  requestId!: string;

  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the call that was replayed. That call may have been deleted. Null if this call is not a replay.',
  })
  @Property({ type: 'uuid', nullable: true })
  replayOfId?: string | null;

  /** The request as encrypted JSON (webhook-call-request.ts). Null if it is too large, or no longer kept. */
  @Property({ type: 'text', nullable: true, lazy: true })
  request?: string | null;
}

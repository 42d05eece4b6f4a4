import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';
import { wordEnum } from './word-enum.ts';

const TYPES = {
  'dataset.filter.broken': 'A share no longer shows rows, because its saved filter does not fit the fields.',
  'app.notification': 'A handler of an app sends a message.',
  'job.notification': 'An action of a job sends a message.',
  'job.run.failed': 'A run of a job failed, and the one before it had not.',
  'agent.run.failed': 'A run of an agent failed, and the one before it had not.',
  'agent.events.dropped': 'Events of an agent were dropped when an update bound agents to the events of single apps.',
  'agent.events.suspended': 'Events of an app no longer start an agent, because the app has another owner.',
  'assistant.events.dropped':
    'Events of an assistant were dropped when an update bound agents to the events of single apps.',
  'library.connection.expired': 'The provider refuses the connection of a library, which has to be authorized again.',
  'library.connection.ended':
    'A library is no longer connected, because the user who authorized it was disabled or deleted.',
  'toolkit.connection.expired': 'The server refuses the connection of a toolkit, which has to be authorized again.',
  'toolkit.connection.ended':
    'A toolkit is no longer connected, because the user who authorized it was disabled or deleted.',
  'usage.budget.exceeded': 'More credits were used in a month than the budget of an app, assistant, agent or job.',
} as const;
const NotificationTypeEnum = wordEnum(
  'NotificationType',
  'Type of a notification.',
  Object.keys(TYPES) as (keyof typeof TYPES)[],
  (type) => TYPES[type],
);

/** A message for one user. No one else can see it. See docs/contract/people.md#notifications. */
@ObjectType({
  description: 'A message for the caller. No one else can see it. Deleted after 90 days.',
  implements: Node,
})
@Entity()
export class Notification extends TenantRow {
  /** The recipient. */
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => NotificationTypeEnum, { description: 'Type of the notification.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => String, { description: 'Message for display.' })
  @Property({ type: 'text' })
  message!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Link of the message: a path of the front-end or an https URL. Null if it has none.',
  })
  @Property({ type: 'text', nullable: true })
  link?: string | null;

  /** Id of the user or team for whom a job or an app has sent it. */
  @Property({ type: 'uuid', nullable: true })
  senderId?: string | null;

  /** Kind and id of the resource concerned. The resource may have been deleted since. */
  @Property({ type: 'text', nullable: true })
  resourceKind?: string | null;

  @Property({ type: 'uuid', nullable: true })
  resourceId?: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time at which the caller marked it as read. Null while it is unread.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  readAt?: Date | null;
}

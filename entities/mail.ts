import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

const MAIL_STATUSES = ['queued', 'sent', 'failed'] as const;
type MailStatus = (typeof MAIL_STATUSES)[number];

const MailStatusEnum = { QUEUED: 'queued', SENT: 'sent', FAILED: 'failed' } as const satisfies Record<
  string,
  MailStatus
>;
registerEnumType(MailStatusEnum, {
  name: 'MailStatus',
  description: 'State of a mail in the outbox.',
  valuesConfig: {
    QUEUED: {
      description: 'Waiting for its first or next delivery attempt. Without `SMTP_URL` mails stay in this state.',
    },
    SENT: { description: 'Accepted by the mail server.' },
    FAILED: { description: 'Not delivered and not retried. `error` is the reason.' },
  },
});

@ObjectType({ description: 'An attached file of a mail.' })
export class MailAttachment {
  @Field(() => String, { description: 'Name of the file.' })
  filename!: string;

  @Field(() => String, { description: 'Media type.' })
  contentType!: string;

  @Field(() => Int, { description: 'Size in bytes.' })
  size!: number;
}

/** The rows of a dataset that a mail has attached, as its recipient saw them. */
export interface MailedRows {
  datasetId: string;
  /** Digest of the restriction on rows and fields. Null if the dataset was fully visible. */
  restriction: string | null;
}

/**
 * A mail in the outbox. Its texts are encrypted, since they can contain password links. See
 * docs/contract/people.md#mail.
 */
@ObjectType({
  description: 'A mail in the outbox: sent, waiting or failed. Deleted after 30 days.',
  implements: Node,
})
@Entity()
export class Mail extends TenantRow {
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the recipient. Null if the recipient is an address only, or a user who was deleted.',
  })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  /** Whether the recipient is a user. It stays true when the user is deleted. */
  @Property({ type: 'boolean' })
  toUser: boolean = false;

  @Field(() => String, { description: 'E-mail address of the recipient, or their username if they have no address.' })
  @Property({ type: 'text', fieldName: 'recipient' })
  to!: string;

  @Field(() => String, { description: 'Subject line.' })
  @Property({ type: 'text' })
  subject!: string;

  /** Encrypted plain text. */
  @Property({ type: 'text' })
  sealedText!: string;

  /** Encrypted HTML. */
  @Property({ type: 'text', nullable: true })
  sealedHtml?: string | null;

  @Field(() => [MailAttachment], {
    description: 'Attached files. They are stored until the mail is sent or has failed.',
  })
  @Property({ type: 'json' })
  attachments: MailAttachment[] = [];

  /** The attached rows that the recipient must still see when the mail is sent. */
  @Property({ type: 'json' })
  rowsOf: MailedRows[] = [];

  /** Names what caused the mails of several recipients, so that it causes them once. */
  @Property({ type: 'text', nullable: true })
  source?: string | null;

  /** The user or team whose job or app sent the mail to a plain address. Null for all other mails. */
  @Property({ type: 'uuid', nullable: true })
  senderId?: string | null;

  @Field(() => MailStatusEnum, { description: 'Delivery state.' })
  @Enum({ items: () => [...MAIL_STATUSES], type: 'text' })
  status: MailStatus = 'queued';

  @Field(() => Int, { description: 'Number of delivery attempts.' })
  @Property({ type: 'integer' })
  attempts: number = 0;

  @Field(() => String, { nullable: true, description: 'Reason why the last attempt failed, or why there was none.' })
  @Property({ type: 'text', nullable: true })
  error?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Time at which the mail server accepted the mail.' })
  @Property({ type: 'timestamptz', nullable: true })
  sentAt?: Date | null;

  /** Earliest time of the next attempt. */
  @Property({ type: 'timestamptz' })
  nextAttemptAt: Date = new Date();

  /** W3C `traceparent` of the request that caused the mail, if it has a trace. */
  @Property({ type: 'text', nullable: true })
  traceparent?: string | null;

  /** Set while a worker sends the mail. */
  @Property({ type: 'timestamptz', nullable: true })
  claimedAt?: Date | null;

  /** Time after which the mail is not sent. */
  @Property({ type: 'timestamptz', nullable: true })
  expiresAt?: Date | null;
}

import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

export const MAIL_STATUSES = ['queued', 'sent', 'failed'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

export const MailStatusEnum = { QUEUED: 'queued', SENT: 'sent', FAILED: 'failed' } as const satisfies Record<
  string,
  MailStatus
>;
registerEnumType(MailStatusEnum, {
  name: 'MailStatus',
  description: 'State of a mail in the outbox.',
  valuesConfig: {
    QUEUED: {
      description:
        'Waits to be sent, for the first or another time. Without `SMTP_URL` mails stay so: an operator reads them here.',
    },
    SENT: { description: 'The mail server has taken it.' },
    FAILED: { description: 'It was given up; `error` says why.' },
  },
});

/** A mail in the outbox (contract 9). Its texts are sealed: they may hold links that let their reader in. */
@ObjectType({
  description: 'A mail that was sent, waits to be sent, or is there for an operator to hand over. Mails stay 30 days.',
})
@Entity()
export class Mail extends TenantRow {
  @Field(() => ID, {
    nullable: true,
    description: 'The user it is for; null when it is for no user of the tenant, or a deleted one.',
  })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => String, { description: 'The address it goes to; the username of a user without one.' })
  @Property({ type: 'text', fieldName: 'recipient' })
  to!: string;

  @Field(() => String, { description: 'Subject.' })
  @Property({ type: 'text' })
  subject!: string;

  /** Sealed. */
  @Property({ type: 'text' })
  sealedText!: string;

  /** Sealed. */
  @Property({ type: 'text', nullable: true })
  sealedHtml?: string | null;

  @Field(() => MailStatusEnum, { description: 'Its state.' })
  @Enum({ items: () => [...MAIL_STATUSES], type: 'text' })
  status: MailStatus = 'queued';

  @Field(() => Int, { description: 'How often it was tried.' })
  @Property({ type: 'integer' })
  attempts: number = 0;

  @Field(() => String, { nullable: true, description: 'Why the last attempt failed, or why there was none.' })
  @Property({ type: 'text', nullable: true })
  error?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the mail server took it.' })
  @Property({ type: 'timestamptz', nullable: true })
  sentAt?: Date | null;

  /** Not before. */
  @Property({ type: 'timestamptz' })
  nextAttemptAt: Date = new Date();

  /** Set while a worker sends it. */
  @Property({ type: 'timestamptz', nullable: true })
  claimedAt?: Date | null;

  /** When it is of no more use. */
  @Property({ type: 'timestamptz', nullable: true })
  expiresAt?: Date | null;
}

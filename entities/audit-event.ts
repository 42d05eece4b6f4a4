import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { AUDIT_OUTCOMES, AUDIT_CHANNELS, type AuditOutcome, type AuditChannel } from '../src/core/audit.ts';
import { TenantRow } from './tenant-row.ts';

export const AuditChannelEnum = {
  GRAPHQL: 'graphql',
  REST: 'rest',
  WEBSOCKET: 'websocket',
  CLI: 'cli',
} as const satisfies Record<string, AuditChannel>;
registerEnumType(AuditChannelEnum, {
  name: 'AuditChannel',
  description: 'How a change was asked for.',
  valuesConfig: {
    GRAPHQL: { description: 'GraphQL over HTTP.' },
    REST: { description: 'REST.' },
    WEBSOCKET: { description: 'GraphQL over WebSocket.' },
    CLI: { description: 'A command of the service’s operator.' },
  },
});

export const AuditOutcomeEnum = { SUCCEEDED: 'succeeded', DENIED: 'denied' } as const satisfies Record<
  string,
  AuditOutcome
>;
registerEnumType(AuditOutcomeEnum, {
  name: 'AuditOutcome',
  description: 'What became of an audited call.',
  valuesConfig: {
    SUCCEEDED: { description: 'It was done; what it began may have failed later.' },
    DENIED: { description: 'It was refused: a permission was lacking, or a password wrong.' },
  },
});

/** One mutation, done or refused (contract 9). Never the values of its arguments. Rows are only ever added; the janitor deletes them after 400 days. */
@ObjectType({
  description: 'One call of a GraphQL mutation, by whichever channel, that was done or refused. Kept for 400 days.',
})
@Entity()
export class AuditEvent extends TenantRow {
  @Field(() => ID, { nullable: true, description: 'Who called; null for operators, and where a login failed.' })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => String, {
    description:
      'The name of who called at that time: of a user, as a failed login gave it, or of the operator’s account on the machine.',
  })
  @Property({ type: 'text' })
  username!: string;

  @Field(() => String, { description: 'The GraphQL field that was called, e.g. `updateDataset`.' })
  @Property({ type: 'text' })
  action!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What the resource is, e.g. `dataset` or `query`; null for calls about none.',
  })
  @Property({ type: 'text', nullable: true })
  kind?: string | null;

  @Field(() => ID, { nullable: true, description: 'The resource. Where the call was refused: as the caller named it.' })
  @Property({ type: 'text', nullable: true })
  resourceId?: string | null;

  @Field(() => AuditOutcomeEnum, { description: 'What became of the call.' })
  @Enum({ items: () => [...AUDIT_OUTCOMES], type: 'text' })
  outcome!: AuditOutcome;

  @Field(() => AuditChannelEnum, { description: 'How it was asked for.' })
  @Enum({ items: () => [...AUDIT_CHANNELS], type: 'text' })
  channel!: AuditChannel;

  @Field(() => String, { nullable: true, description: 'The caller’s IP address; null for operators.' })
  @Property({ type: 'text', nullable: true })
  address?: string | null;

  @Field(() => ID, { nullable: true, description: 'The API token that was used; null without.' })
  @Property({ type: 'uuid', nullable: true })
  tokenId?: string | null;

  @Field(() => ID, { nullable: true, description: 'The session that was used, or that a login opened; null without.' })
  @Property({ type: 'uuid', nullable: true })
  sessionId?: string | null;

  @Field(() => String, { description: 'The `x-request-id` of the call.' })
  @Property({ type: 'text' })
  requestId!: string;
}

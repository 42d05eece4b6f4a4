import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType, registerEnumType } from 'type-graphql';
import { AUDIT_OUTCOMES, AUDIT_CHANNELS, type AuditOutcome, type AuditChannel } from '../src/core/audit.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

export const AuditChannelEnum = {
  GRAPHQL: 'graphql',
  REST: 'rest',
  WEBSOCKET: 'websocket',
  CLI: 'cli',
  APP: 'app',
  JOB: 'job',
} as const satisfies Record<string, AuditChannel>;
registerEnumType(AuditChannelEnum, {
  name: 'AuditChannel',
  description: 'API or tool through which a call was received.',
  valuesConfig: {
    GRAPHQL: { description: 'GraphQL over HTTP.' },
    REST: { description: 'REST.' },
    WEBSOCKET: { description: 'GraphQL over WebSocket.' },
    CLI: { description: 'Command line of the operator.' },
    APP: { description: 'REST, called by a handler of an app for the caller.' },
    JOB: { description: 'Work in the background as a user or team: runs of jobs and agents, renderings.' },
  },
});

export const AuditOutcomeEnum = {
  SUCCEEDED: 'succeeded',
  DENIED: 'denied',
  STARTED: 'started',
  ABORTED: 'aborted',
} as const satisfies Record<string, AuditOutcome>;
registerEnumType(AuditOutcomeEnum, {
  name: 'AuditOutcome',
  description: 'Outcome of an audited call.',
  valuesConfig: {
    SUCCEEDED: { description: 'The call succeeded. An operation that it started may have failed later.' },
    DENIED: {
      description:
        'The call was refused: the caller lacked a permission, a password was wrong, or the caller cannot read the subject of a download.',
    },
    STARTED: { description: 'The download has begun. It stays so if the process ended before the download did.' },
    ABORTED: { description: 'The download failed, or its client ended it.' },
  },
});

/**
 * One mutation or download that succeeded or was refused, or one read of rows, without the values of its arguments. Only
 * the end of a download updates its row; rows are deleted after 400 days. See docs/contract/resources.md#audit-log.
 */
@ObjectType({
  description:
    'A call of a GraphQL mutation or the download of an export, a document or a file, that succeeded or was refused, or a read of rows, ' +
    'through any channel. Deleted after 400 days.',
  implements: Node,
})
@Entity()
export class AuditEvent extends TenantRow {
  @Field(() => ID, { nullable: true, description: 'Id of the caller. Null for operators and failed logins.' })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => String, {
    description:
      'Name of the caller at the time of the call: the username, the name used in a failed login, or the ' +
      'operating-system account of the operator.',
  })
  @Property({ type: 'text' })
  username!: string;

  @Field(() => String, {
    description:
      'GraphQL field that was called, e.g. `updateDataset`. Events of older versions have the names of that time.',
  })
  @Property({ type: 'text' })
  action!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Kind of the resource concerned, e.g. `dataset` or `query`. Null for calls that concern no resource. ' +
      'Events of older versions have the names of that time.',
  })
  @Property({ type: 'text', nullable: true })
  kind?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the resource concerned. For refused calls, the key that the caller used.',
  })
  @Property({ type: 'text', nullable: true })
  resourceId?: string | null;

  @Field(() => AuditOutcomeEnum, { description: 'Outcome of the call.' })
  @Enum({ items: () => [...AUDIT_OUTCOMES], type: 'text' })
  outcome!: AuditOutcome;

  @Field(() => AuditChannelEnum, { description: 'API or tool through which the call was received.' })
  @Enum({ items: () => [...AUDIT_CHANNELS], type: 'text' })
  channel!: AuditChannel;

  @Field(() => String, { nullable: true, description: 'IP address of the caller. Null for operators.' })
  @Property({ type: 'text', nullable: true })
  address?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the API token that was used. Null if none was.' })
  @Property({ type: 'uuid', nullable: true })
  tokenId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the session that was used, or that a login opened. Null if there was none.',
  })
  @Property({ type: 'uuid', nullable: true })
  sessionId?: string | null;

  @Field(() => String, { description: '`x-request-id` of the call.' })
  @Property({ type: 'text' })
  requestId!: string;

  @Field(() => [String], {
    nullable: true,
    description: 'Names of the arguments of a download or a read of rows, without their values. Null for mutations.',
  })
  @Property({ type: 'json', nullable: true })
  parameters?: string[] | null;

  @Field(() => Float, {
    nullable: true,
    description:
      'Number of rows that a download or a read of rows has returned. Null for mutations and files, and until a download ends.',
  })
  @Property({ type: 'double', nullable: true })
  rows?: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Number of bytes that a download has sent. Null for mutations, and until the download ends.',
  })
  @Property({ type: 'double', nullable: true })
  bytes?: number | null;
}

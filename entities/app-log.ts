import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { newId } from '../src/core/id.ts';
import type { SandboxLog } from '../src/core/sandbox.ts';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { wordEnum } from './word-enum.ts';

export type AppLogLevel = SandboxLog['level'];
const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly AppLogLevel[];

const DESCRIPTION_OF: Readonly<Record<AppLogLevel, string>> = {
  debug: 'Debugging details.',
  info: 'Normal event.',
  warn: 'Possible problem.',
  error: 'Error. Failures of handlers have this level too.',
};

export const AppLogLevelEnum = wordEnum(
  'AppLogLevel',
  'Level of a line in the log of an app.',
  LEVELS,
  (level) => DESCRIPTION_OF[level],
);

/** See docs/contract/apps.md#records-of-apps. */
@ObjectType({
  description:
    'A line in the log of an app. It is deleted after 7 days, or before if the newer lines of the app are more than ' +
    '50,000 or have more than 100 MB.',
  implements: Node,
})
@Entity()
export class AppLog {
  @Field(() => ID, { description: 'UUID, version 7.' })
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  tenantId!: string;

  @Field(() => ID, { description: 'Id of the app.' })
  @Property({ type: 'uuid' })
  appId!: string;

  @Field(() => DateTime, {
    description:
      'Time at which its run ended. For the mark of a run that may not keep what it reads: time before it read.',
  })
  @Property({ type: 'timestamptz' })
  at!: Date;

  @Field(() => AppLogLevelEnum, { description: 'Level.' })
  @Enum({ items: () => [...LEVELS], type: 'text' })
  level!: AppLogLevel;

  @Field(() => String, { description: 'Text, in which `••••` replaces values of the environment.' })
  @Property({ type: 'text' })
  message!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the route whose handler ran, e.g. `/orders/:id`. Null if no route has the path and method.',
  })
  @Property({ type: 'text', nullable: true })
  route?: string | null;

  @Field(() => String, { description: 'Id of the request, as in its header `x-request-id`.' })
  @Property({ type: 'text' })
  requestId!: string;
}

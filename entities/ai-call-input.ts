import { ArgsType, Field } from 'type-graphql';
import type { AiCallStatus, ModelKind } from '../src/core/ai.ts';
import { DateTime } from '../src/core/scalars.ts';
import { AiCallStatusEnum } from './ai-call.ts';
import { ModelKindEnum } from './ai-provider.ts';

/** Filters of the audit of AI calls. Absent ones do not restrict. */
@ArgsType()
export class AiCallFilter {
  @Field(() => String, { nullable: true, description: 'Only calls by this actor: `user:<id>` or `agent:<id>`.' })
  actor?: string;

  @Field(() => ModelKindEnum, { nullable: true, description: 'Only calls of models of this kind.' })
  action?: ModelKind;

  @Field(() => AiCallStatusEnum, { nullable: true, description: 'Only calls that ended like this.' })
  status?: AiCallStatus;

  @Field(() => DateTime, { nullable: true, description: 'Only calls that ended at or after this time.' })
  from?: Date;

  @Field(() => DateTime, { nullable: true, description: 'Only calls that ended before this time.' })
  to?: Date;
}

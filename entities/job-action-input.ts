import { Field, ID, InputType } from 'type-graphql';
import type { IncomingFile } from '../src/core/files.ts';
import { NAME_RULE, Rule, textRule } from '../src/core/input-rules.ts';
import { FileContent, JsonObject } from '../src/core/scalars.ts';
import { JobActionConditionTypeEnum, type JobActionConditionType } from './job-action-condition.ts';

@InputType({ description: 'Changes to an action of a job. Absent keys are unchanged.' })
export class UpdateJobActionInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Settings as defined by the JSON Schema of the action driver (`jobActionDrivers`). Replaces all previous ' +
      'settings. A secret with the value `••••` is unchanged.',
  })
  data?: Record<string, unknown> | null;
}

@InputType({ description: 'A new action of a job.' })
export class CreateJobActionInput extends UpdateJobActionInput {
  @Rule(textRule(100))
  @Field(() => ID, { description: 'Id of the action driver, e.g. `email`. It cannot be changed later.' })
  type!: string;

  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  override name!: string;
}

@InputType({ description: 'Changes to a run condition. Absent keys are unchanged.' })
export class UpdateJobActionConditionInput {
  @Rule({ notNull: true })
  @Field(() => JobActionConditionTypeEnum, { nullable: true, description: 'Type of the condition.' })
  type?: JobActionConditionType;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'For `criteria`: `{alias | datasetId, criteria, op, count}`: the number of rows that match the criteria ' +
      'must be `op` (eq, ne, gt, gte, lt, lte) `count`. Empty for the other types.',
  })
  data?: Record<string, unknown> | null;
}

@InputType({ description: 'A new run condition.' })
export class CreateJobActionConditionInput extends UpdateJobActionConditionInput {
  @Field(() => JobActionConditionTypeEnum, { description: 'Type of the condition.' })
  override type!: JobActionConditionType;
}

@InputType({ description: 'The file of an action.' })
export class SetJobActionFileInput {
  @Field(() => FileContent, {
    description: 'The file. In REST: the first file part of a form, or the body itself.',
  })
  file!: IncomingFile;
}

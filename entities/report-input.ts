import { Field, InputType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';

@InputType({ description: 'Changes to a report. Absent keys are unchanged, and null clears a value.' })
export class UpdateReportInput extends UpdateOwnedInput {
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Content of the report: `{"blocks": […]}`, each block with a unique `id`; at most 1 MB and 100 levels deep. ' +
      'Replaces the previous content; null removes all blocks. ' +
      'A block with a `dataset` (the alias of a dataset reference) shows data: ' +
      'rows as `{"type": "table", fields, sort, limit, q, filter}`, ' +
      'groups as `{measures, groupBy, sort, limit, q, filter}`, ' +
      'a visual of the dataset as `{"type": "visual", "visual": id}`, ' +
      'or an inline visual as a visual component with its `config`. ' +
      '`filter` is criteria or the id of a saved filter, `limit` is at most 1000. ' +
      'Blocks can be nested in any list, as objects with `id` and `type`.',
  })
  definition?: Record<string, unknown> | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Display settings of client applications, at most 1 MB. Replaces the previous settings; null clears them.',
  })
  settings?: Record<string, unknown> | null;
}

@InputType({ description: 'A new report.' })
export class CreateReportInput extends UpdateReportInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

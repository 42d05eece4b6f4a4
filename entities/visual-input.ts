import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { DESCRIPTION_RULE, intRule, NAME_RULE, Rule } from '../src/core/input-rules.ts';
import { RowFilter } from '../src/core/query-language.ts';
import { JsonObject } from '../src/core/scalars.ts';
import type { VisualComponent } from '../src/core/visual/component.ts';
import { VisualComponentEnum } from './visual.ts';

@InputType({ description: 'Changes to a visual. Absent keys are unchanged, and null clears a value.' })
export class UpdateVisualInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string | null;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, up to 10,000 characters.' })
  description?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Keys of the component’s JSON Schema (`visualComponents`). Required keys may be null until the data is ' +
      'queried. The object replaces the current one.',
  })
  config?: Record<string, unknown> | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: 'Whether the visual is embedded in a dashboard.' })
  embedded?: boolean | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether lists show the visual first, before visuals that are not pinned.',
  })
  pinned?: boolean | null;

  @Rule({ ...intRule(0), notNull: true })
  @Field(() => Int, {
    nullable: true,
    description:
      'Position among the visuals of the dataset, from 0. Other visuals move. A number beyond the ' +
      'last position means the last position.',
  })
  position?: number;
}

@InputType({ description: 'A new visual.' })
export class CreateVisualInput extends UpdateVisualInput {
  @Field(() => VisualComponentEnum, { description: 'Chart type. It cannot be changed later.' })
  component!: VisualComponent;
}

/** The rows that a visual shows. */
@ArgsType()
export class VisualDataArgs {
  @Field(() => RowFilter, { nullable: true, description: 'Rows to show. Default: all.' })
  filter?: unknown;

  @Field(() => String, { nullable: true, description: 'Search words that rows must contain.' })
  q?: string | null;

  @Rule(intRule(1, 10_000))
  @Field(() => Int, {
    nullable: true,
    description:
      'Maximum number of groups, or of rows of a table or scatter plot, 1 to 10000. ' +
      'Default: 1000 groups, the page size of a table or 100 rows, 2000 points.',
  })
  limit?: number | null;
}

/** The rows that a visual shows, and the size of its image. */
@ArgsType()
export class VisualImageArgs extends VisualDataArgs {
  @Rule(intRule(100, 4000))
  @Field(() => Int, {
    nullable: true,
    description: 'Width in pixels, 100 to 4000. Default: the width of the config, or 800.',
  })
  width?: number | null;

  @Rule(intRule(100, 4000))
  @Field(() => Int, {
    nullable: true,
    description: 'Height in pixels, 100 to 4000. Default: the height of the config, or 450.',
  })
  height?: number | null;
}

import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { VisualComponentEnum } from '../../entities/visual.ts';
import { Json, JsonObject } from '../../src/core/scalars.ts';
import type { ComponentDefinition, VisualComponent } from '../../src/core/visual/component.ts';
import type { VisualConfig } from '../../src/core/visual/config.ts';
import type { VisualTemplate } from '../../src/core/visual/templates.ts';

/** Changes of a visual. */
@InputType({ description: 'Changes of a visual. Absent keys stay as they are, null clears.' })
export class UpdateVisualInput {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'What it shows.' })
  description?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Keys of the component’s JSON Schema (`visualComponents`); null ones may be filled later. Replaces the former.',
  })
  config?: Record<string, unknown> | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it is embedded in a dashboard.' })
  embedded?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether lists show it first.' })
  pinned?: boolean | null;

  @Field(() => Int, { nullable: true, description: 'Its place from 0; the others make room. Past the end is the end.' })
  position?: number | null;
}

/** A new visual. */
@InputType({ description: 'A new visual.' })
export class CreateVisualInput extends UpdateVisualInput {
  @Field(() => VisualComponentEnum, { description: 'What it is drawn as.' })
  component!: VisualComponent;
}

/** Which of the rows a visual shows. */
@ArgsType()
export class VisualDataArgs {
  @Field(() => Json, {
    nullable: true,
    description: 'Criteria as an object or as JSON text; any other text is the id of a saved filter.',
  })
  filter?: unknown;

  @Field(() => String, { nullable: true, description: 'Words that rows must hold.' })
  q?: string;

  @Field(() => Int, {
    nullable: true,
    description:
      'Groups, or rows of a table or scatter plot, 1 to 10000. Default 1000 groups, a table’s page, 2000 points.',
  })
  limit?: number;
}

/** The same with the size of a picture. */
@ArgsType()
export class VisualImageArgs extends VisualDataArgs {
  @Field(() => Int, { nullable: true, description: 'Width in pixels, 100 to 4000. Default the config’s, or 800.' })
  width?: number;

  @Field(() => Int, { nullable: true, description: 'Height in pixels, 100 to 4000. Default the config’s, or 450.' })
  height?: number;
}

/** What the caller may do to a visual. */
@ObjectType({ description: 'What the caller may do to a visual.' })
export class VisualPermissions {
  @Field(() => Boolean, { description: 'Change it.' }) edit!: boolean;
  @Field(() => Boolean, { description: 'Delete it.' }) delete!: boolean;
}

/** What a visual can be drawn as. */
@ObjectType('VisualComponentDefinition', {
  description: 'What a visual can be drawn as, and what its config may hold.',
})
export class VisualComponentType implements ComponentDefinition {
  @Field(() => VisualComponentEnum, { description: 'The `component` of its visuals.' }) id!: VisualComponent;
  @Field(() => String, { description: 'Name to show.' }) name!: string;
  @Field(() => JsonObject, {
    description: 'JSON Schema of the config. Texts of the format `field` name a field of the dataset.',
  })
  schema!: ComponentDefinition['schema'];
  @Field(() => [String], { description: 'Keys without which there is nothing to show.' })
  needs!: readonly (keyof VisualConfig)[];
}

/** A visual to begin with. */
@ObjectType('VisualTemplate', { description: 'A visual to begin with.' })
export class VisualTemplateType implements VisualTemplate {
  @Field(() => ID, { description: 'Its own name.' }) id!: string;
  @Field(() => String, { description: 'Name to show.' }) name!: string;
  @Field(() => VisualComponentEnum, { description: 'What it is drawn as.' }) component!: VisualComponent;
  @Field(() => String, { description: 'What it shows.' }) description!: string;
  @Field(() => String, { description: 'Name of an icon of the front-end.' }) icon!: string;
  @Field(() => String, {
    description: 'What it is good for: `comparison`, `trend`, `proportion`, `relation`, `indicator` or `detail`.',
  })
  category!: VisualTemplate['category'];
  @Field(() => JsonObject, { description: 'The config; null keys are for the user to fill.' }) config!: VisualConfig;
}

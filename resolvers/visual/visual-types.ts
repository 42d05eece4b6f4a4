import { Field, ID, ObjectType } from 'type-graphql';
import { VisualComponentEnum } from '../../entities/visual.ts';
import { wordEnum } from '../../entities/word-enum.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import type { ComponentDefinition, VisualComponent } from '../../src/core/visual/component.ts';
import type { VisualConfig } from '../../src/core/visual/config.ts';
import type { VisualTemplate } from '../../src/core/visual/templates.ts';

@ObjectType({ description: 'The caller’s permissions on a visual.' })
export class VisualPermissions {
  @Field(() => Boolean, { description: 'Whether the caller may update it.' })
  edit!: boolean;

  @Field(() => Boolean, { description: 'Whether the caller may delete it.' })
  delete!: boolean;
}

/** A chart type. */
@ObjectType('VisualComponentDefinition', {
  description: 'A chart type, and the JSON Schema of its config.',
})
export class VisualComponentType implements ComponentDefinition {
  @Field(() => VisualComponentEnum, { description: 'Value of `component` in visuals of this type.' })
  id!: VisualComponent;

  @Field(() => String, { description: 'Display name, and default name of visuals of this type.' })
  name!: string;

  @Field(() => JsonObject, {
    description: 'JSON Schema of the config. Strings of the format `field` are names of dataset fields.',
  })
  schema!: ComponentDefinition['schema'];

  @Field(() => [String], { description: 'Config keys that the data requires.' })
  needs!: readonly (keyof VisualConfig)[];
}

const VisualCategoryEnum = wordEnum(
  'VisualCategory',
  'Purpose of a visual.',
  ['comparison', 'trend', 'proportion', 'relation', 'indicator', 'detail'],
  (category) =>
    ({
      comparison: 'Compares values of categories.',
      trend: 'Shows how values change over time.',
      proportion: 'Shows the parts of a whole.',
      relation: 'Shows how values depend on each other.',
      indicator: 'Shows a single value.',
      detail: 'Shows rows.',
    })[category],
);

@ObjectType('VisualTemplate', { description: 'A predefined visual, as a starting point for a new one.' })
export class VisualTemplateType implements VisualTemplate {
  @Field(() => ID, { description: 'Id, e.g. `compare-categories`.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => VisualComponentEnum, { description: 'Chart type.' })
  component!: VisualComponent;

  @Field(() => String, { description: 'Description.' })
  description!: string;

  @Field(() => String, { description: 'Icon name, as defined by the front-end.' })
  icon!: string;

  @Field(() => VisualCategoryEnum, { description: 'Purpose.' })
  category!: VisualTemplate['category'];

  @Field(() => JsonObject, { description: 'Config. The user fills the keys that are null.' })
  config!: VisualConfig;
}

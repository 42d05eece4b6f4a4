import { Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import { JsonObject } from '../../src/core/scalars.ts';
import {
  TOOLKIT_TEMPLATES,
  type ToolkitPlaceholder,
  type ToolkitTemplate,
} from '../../src/services/toolkit/toolkit-template.ts';
import { Can } from '../support/guard.ts';

@ObjectType('ToolkitPlaceholder', { description: 'A value that users fill in before they create a toolkit.' })
class ToolkitPlaceholderType implements ToolkitPlaceholder {
  @Field(() => String, { description: 'Path of the value that it replaces, e.g. `config.headers.Authorization`.' })
  path!: string;

  @Field(() => String, { description: 'Label of the value.' })
  label!: string;

  @Field(() => Boolean, { description: 'Whether it is a secret.' })
  secret!: boolean;
}

@ObjectType('ToolkitTemplate', { description: 'Preset settings of a toolkit.' })
class ToolkitTemplateType implements ToolkitTemplate {
  @Field(() => ID, { description: 'Id of the template, e.g. `github`.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Description.' })
  description!: string;

  @Field(() => String, { description: 'Name of a glyph of Lucide.' })
  icon!: string;

  @Field(() => String, { description: 'Id of the driver.' })
  type!: ToolkitTemplate['type'];

  @Field(() => JsonObject, { description: 'Settings of the toolkit, with empty texts to fill in.' })
  config!: Record<string, unknown>;

  @Field(() => [ToolkitPlaceholderType], { description: 'Values to fill in.' })
  placeholders!: ToolkitPlaceholder[];
}

@Resolver()
export class ToolkitTemplateResolver {
  @Can('authenticated')
  @Query(() => [ToolkitTemplateType], { description: 'Lists preset settings of toolkits for well-known servers.' })
  toolkitTemplates(): readonly ToolkitTemplate[] {
    return TOOLKIT_TEMPLATES;
  }
}

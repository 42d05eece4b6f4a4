import { Field, ID, InputType } from 'type-graphql';
import { Rule, textRule } from '../src/core/input-rules.ts';
import { JsonObject } from '../src/core/scalars.ts';

@InputType({ description: 'Input of a rendering. Absent keys have the value of the template.' })
export class RenderTemplateInput {
  @Field(() => JsonObject, {
    nullable: true,
    description: 'Values of the inputs by name. Absent ones have their default; unknown names are refused.',
  })
  params?: Record<string, unknown> | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the TEMPLATE file to render. Default: the one that the template names.',
  })
  templateFileId?: string | null;

  @Rule(textRule(100))
  @Field(() => ID, {
    nullable: true,
    description: 'Id of an output handler of the engine, e.g. `pdf`. Default: the one of the template.',
  })
  handler?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Options of the handler, as defined by its JSON Schema (`templateDrivers`). Default: the options of the template, ' +
      'if it has the same handler.',
  })
  handlerOptions?: Record<string, unknown> | null;

  @Rule(textRule(255))
  @Field(() => String, {
    nullable: true,
    description:
      'Name of the document. The extension of the format is added unless the name has it. Default: the slug of the template.',
  })
  filename?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether each processor reads 20 rows only. The rendition then expires after an hour.',
  })
  preview?: boolean | null;
}

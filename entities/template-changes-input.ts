import { Field, ID, InputType } from 'type-graphql';
import { Rule, textRule } from '../src/core/input-rules.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';

@InputType({ description: 'Changes to a template. Absent keys are unchanged, and null clears a value.' })
export class UpdateTemplateInput extends UpdateOwnedInput {
  @Rule({ ...textRule(100), notNull: true })
  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the template driver (engine): `nunjucks` or `docx`. On creation, by default `nunjucks`. Send `type` and ' +
      '`handler` together: an engine without the handler is an error.',
  })
  type?: string;

  @Rule({ ...textRule(100), notNull: true })
  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the output handler: `html`, `pdf`, `text` or `csv` of `nunjucks`, `docx` of `docx`. ' +
      'On creation, by default the first one of the engine.',
  })
  handler?: string;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Options of the handler, as defined by its JSON Schema (`templateDrivers`), which renderings check; at most 16 KiB ' +
      'as JSON and 20 levels deep. Replaces all previous options; null clears them.',
  })
  handlerOptions?: Record<string, unknown> | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the TEMPLATE file that is rendered by default; null for none.',
  })
  templateFileId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the ASSET file (PDF, PNG, JPEG or SVG) that is laid under each page of a PDF; null for none.',
  })
  letterheadId?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Settings: `page` (`size`, `landscape`, `margin`), `header`, `footer`, `locale`, `timezone`, `strict`, and keys of ' +
      'clients; at most 64 KiB as JSON and 20 levels deep. Replaces all previous settings; null clears them.',
  })
  settings?: Record<string, unknown> | null;
}

@InputType({ description: 'A new template.' })
export class CreateTemplateInput extends UpdateTemplateInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

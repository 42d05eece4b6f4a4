import { Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { check, type TemplateCheckResult } from '../../src/services/template/template-check.ts';
import type { TemplateProblem } from '../../src/services/template/template-mistakes.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ReadsAllRows } from '../support/reads-all-rows.ts';

@ObjectType('TemplateProblem', { description: 'A mistake in a file of a template, or a warning about it.' })
class TemplateProblemType implements TemplateProblem {
  @Field(() => [String], {
    description:
      'Name of the file, or `settings.header`, `settings.footer`, `inputs.<name>`: a list of one, as in `validation`.',
  })
  path!: [string];

  @Field(() => String, { description: 'Description of the problem, in English.' })
  message!: string;

  @Field(() => String, {
    description: '`TEMPLATE` for a mistake, `CHARACTER` for a character that no bundled font has.',
  })
  code!: TemplateProblem['code'];

  @Field(() => Int, { nullable: true, description: 'Line, from 1; null if it is unknown.' })
  line!: number | null;

  @Field(() => Int, { nullable: true, description: 'Column in the line, from 1; null if it is unknown.' })
  column!: number | null;
}

@ObjectType({ description: 'Result of a check of a template.' })
class TemplateCheck implements TemplateCheckResult {
  @Field(() => Boolean, { description: 'Whether no mistake was found. Warnings are not mistakes.' })
  ok!: boolean;

  @Field(() => [TemplateProblemType], { description: 'Mistakes, then warnings, together at most 100.' })
  problems!: TemplateProblem[];
}

@Resolver()
export class TemplateCheckResolver {
  @Can('authenticated')
  @ReadsAllRows()
  @Query(() => TemplateCheck, {
    description: 'Finds the mistakes in the files of a template or a draft that can be found without data.',
  })
  checkTemplate(@Ctx() ctx: Context, @Key('template', 'templateId') templateId: string): Promise<TemplateCheckResult> {
    return check(ctx, templateId);
  }
}

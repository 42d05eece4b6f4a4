import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { setSettings } from '../../src/services/template/template-settings.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@Resolver(() => Template)
export class TemplateSettingsResolver {
  @Can('template:write')
  @Mutation(() => JsonObject, { description: 'Replaces the settings of a template or draft. Returns them.' })
  async setTemplateSettings(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Arg('settings', () => JsonObject, {
      description:
        '`page` (`size`, `landscape`, `margin`), `header`, `footer`, `locale`, `timezone`, `strict`, and keys of clients; at ' +
        'most 64 KiB as JSON and 20 levels deep.',
    })
    settings: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    const id = await setSettings(ctx, templateId, settings);
    return (await ctx.read.one(Template, id, ['settings'])).settings;
  }
}

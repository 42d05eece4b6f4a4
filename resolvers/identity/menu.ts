import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, Info, Query, Resolver } from 'type-graphql';
import { MenuTemplates } from '../../entities/menu.ts';
import type { Context } from '../../src/core/context.ts';
import { listMenus } from '../../src/services/identity/menu.ts';
import { Can, mayRun } from '../support/guard.ts';

@Resolver(() => MenuTemplates)
export class MenuResolver {
  @Can('authenticated')
  @Query(() => MenuTemplates, {
    description: 'Returns the menus of front-ends: the lists that the caller may open, with names and icons.',
  })
  topMenuTemplates(@Ctx() { viewer }: Context, @Info() { schema }: GraphQLResolveInfo): MenuTemplates {
    const fields = schema.getQueryType()!.getFields();
    const templates = listMenus((name) => {
      const field = fields[name];
      if (!field) throw new Error(`An entry of the menus runs ${name}, which is not a field of the query type`);
      return mayRun(viewer, field);
    });
    return { templates };
  }
}

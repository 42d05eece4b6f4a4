import { Field, ID, ObjectType } from 'type-graphql';

@ObjectType({ description: 'An entry of a menu. It leads to a list that the caller may open.' })
export class MenuItem {
  @Field(() => ID, { description: 'Name of the entry, e.g. `datasets`.' })
  id!: string;

  @Field(() => String, { description: 'Text of the entry.' })
  label!: string;

  @Field(() => String, { description: 'REST path of the list, e.g. `/api/datasets`.' })
  path!: string;

  @Field(() => String, { description: 'Name of a glyph of Lucide, e.g. `database`.' })
  icon!: string;
}

/** See docs/contract/people.md#menus. */
@ObjectType({ description: 'A menu of front-ends.' })
export class MenuTemplate {
  @Field(() => ID, { description: 'Name of the menu, e.g. `content`.' })
  id!: string;

  @Field(() => String, { description: 'Title of the menu.' })
  name!: string;

  @Field(() => [MenuItem], { description: 'Entries that the caller may open, in order. At least one.' })
  items!: MenuItem[];
}

@ObjectType({ description: 'The menus of front-ends.' })
export class MenuTemplates {
  @Field(() => [MenuTemplate], { description: 'Menus with entries that the caller may open, in order.' })
  templates!: MenuTemplate[];
}

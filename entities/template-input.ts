import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Json, JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

@ObjectType({ description: 'A value that users give when they render a template.', implements: Node })
@Entity()
export class TemplateInput extends TenantRow {
  @Field(() => ID, { description: 'Id of the template.' })
  @Property({ type: 'uuid' })
  templateId!: string;

  /** Position among the inputs of the template, from 0. */
  @Property({ type: 'integer' })
  position!: number;

  @Field(() => String, { description: 'Name, unique among the inputs and processors of the template.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Display name; null without one.' })
  @Property({ type: 'text', nullable: true })
  label?: string | null;

  @Field(() => String, { nullable: true, description: 'Description; null without one.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => Boolean, { description: 'Whether a rendering without a value and without a default is an error.' })
  @Property({ type: 'boolean' })
  required: boolean = false;

  @Field(() => Json, { nullable: true, description: 'Value of renderings that send none; null for no default.' })
  @Property({ type: 'json', nullable: true })
  defaultValue?: unknown;

  @Field(() => JsonObject, { description: 'JSON Schema of the value, without references to other documents.' })
  @Property({ type: 'json' })
  schema: Record<string, unknown> = {};

  /** In a draft: id of the input that this is a copy of. Null for a new one, and outside drafts. */
  @Property({ type: 'uuid', nullable: true })
  originalId?: string | null;
}

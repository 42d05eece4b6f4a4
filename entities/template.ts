import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/**
 * Files, inputs and processors from which documents are rendered; also the draft of a template
 * (docs/contract/templates.md#templates).
 */
@ObjectType({ description: 'Files, inputs and data from which documents are rendered.', implements: Node })
@Entity()
export class Template extends OwnedRow {
  @Field(() => String, { description: 'Id of the template driver (engine), e.g. `nunjucks`.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => String, { description: 'Id of the output handler of the engine, e.g. `pdf`.' })
  @Property({ type: 'text' })
  handler!: string;

  @Field(() => JsonObject, {
    description: 'Options of the handler, as defined by its JSON Schema (`templateDrivers`).',
  })
  @Property({ type: 'json' })
  handlerOptions: Record<string, unknown> = {};

  @Field(() => ID, { nullable: true, description: 'Id of the file that is rendered by default; null without one.' })
  @Property({ type: 'uuid', nullable: true })
  templateFileId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the ASSET file (PDF, PNG, JPEG or SVG) that is laid under each page of a PDF; null without one.',
  })
  @Property({ type: 'uuid', nullable: true })
  letterheadId?: string | null;

  @Field(() => JsonObject, {
    description:
      'Settings: `page` (`size`, `landscape`, `margin`), `header`, `footer`, `locale`, `timezone`, `strict`, and keys of clients.',
  })
  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};

  /** Id of the template that this is the draft of. Null unless this is a draft. */
  @Property({ type: 'uuid', nullable: true })
  parentId?: string | null;

  /** In a draft: digest of the template when the draft was created. */
  @Property({ type: 'text', nullable: true })
  draftBase?: string | null;
}

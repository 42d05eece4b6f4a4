import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import type { FileProblem } from '../src/core/row-source.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** See docs/contract/datasources.md#datasources. */
@ObjectType({ description: 'A database server or an uploaded file that queries read.', implements: Node })
@Entity()
export class Datasource extends OwnedRow {
  @Field(() => String, { description: 'Id of the driver, e.g. `postgres`.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => JsonObject, {
    description:
      'Connection settings as defined by the JSON Schema of the driver, e.g. host, port, database and user. ' +
      'Contains no secrets.',
  })
  @Property({ type: 'json' })
  config: Record<string, unknown> = {};

  /** The secrets as encrypted JSON. Write-only in the API. */
  @Property({ type: 'text', nullable: true, lazy: true })
  secrets?: string | null;

  /** Doubts about the uploaded file, as it was read with `config`. */
  @Property({ type: 'json' })
  problems: FileProblem[] = [];

  /** Id of the uploaded file. Null for a database server. */
  @Property({ type: 'uuid', nullable: true })
  fileId?: string | null;

  /** Id of the app whose tables it reads. It has the owner and the shares of the app. Null for other types. */
  @Property({ type: 'uuid', nullable: true })
  appId?: string | null;

  @Field(() => Boolean, {
    description: 'Whether the service created the datasource on its own, e.g. for an app or an uploaded dataset.',
  })
  @Property({ type: 'boolean' })
  embedded: boolean = false;
}

import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import { ConnectionStatusEnum, type ConnectionStatus } from './connection.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** Limits of the files that a library keeps (docs/contract/libraries.md#libraries). */
export interface LibrarySettings {
  /** Id of the folder at the provider whose files it keeps. Null: the root of the drive. */
  rootId: string | null;
  /** Extensions of the files that it keeps, in lower case and without a dot. Empty: all. */
  extensions: string[];
  /** Maximum size of a file. */
  maxFileBytes: number;
}

/** See docs/contract/libraries.md#libraries. */
@ObjectType({ description: 'Files of a cloud drive, kept up to date by syncs.', implements: Node })
@Entity()
export class Library extends OwnedRow {
  @Field(() => ID, { nullable: true, description: 'Id of its integration; null if it has none.' })
  @Property({ type: 'uuid', nullable: true })
  integrationId?: string | null;

  @Field(() => String, { nullable: true, description: 'Type of its integration; null if it has none.' })
  type?: string | null;

  @Field(() => ConnectionStatusEnum, { nullable: true, description: 'State of its connection; null if it has none.' })
  connectionStatus?: ConnectionStatus | null;

  @Field(() => JsonObject, {
    description:
      'Selection of its files: `rootId` (id of a folder at the provider; null: all files), `extensions` (e.g. `pdf`; empty: all), ' +
      '`maxFileBytes`.',
  })
  @Property({ type: 'json' })
  settings!: LibrarySettings;

  @Field(() => Int, { description: 'Number of its files, including files without contents.' })
  @Property({ type: 'integer' })
  fileCount: number = 0;

  @Field(() => Float, { description: 'Size of the contents that it has, in bytes.' })
  @Property({ type: 'integer', columnType: 'bigint' })
  bytes: number = 0;

  @Field(() => DateTime, { nullable: true, description: 'End of the last successful sync; null if there was none.' })
  @Property({ type: 'timestamptz', nullable: true })
  lastSyncAt?: Date | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Result of the last sync, after a failure `{at, success, duration, error, code}`; null if there was none.',
  })
  @Property({ type: 'json', nullable: true })
  lastSync?: Record<string, unknown> | null;
}

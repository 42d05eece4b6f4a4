import { Field, Float, ID, ObjectType } from 'type-graphql';
import type { EntityType } from '../src/core/read/reader.ts';
import { DateTime } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { Folder } from './folder.ts';
import { Integration } from './integration.ts';
import { LibraryFile } from './library-file.ts';
import { OWNED_KINDS } from './owned-kinds.ts';
import { Suite } from './suite.ts';
import { Tag } from './tag.ts';
import { Team } from './team.ts';
import { User } from './user.ts';
import { wordEnum } from './word-enum.ts';

/**
 * The types that the global search finds, by kind: those with owners, those that all users of the tenant may read, and
 * the files of libraries.
 */
export const SEARCHABLE_TYPES: Readonly<Record<string, EntityType>> = {
  ...Object.fromEntries(OWNED_KINDS.map(({ kind, entity }) => [kind, entity as EntityType])),
  team: Team,
  folder: Folder,
  suite: Suite,
  integration: Integration,
  'library-file': LibraryFile,
  tag: Tag,
  user: User,
};

const article = (kind: string): string => (/^[ai]/.test(kind) ? 'An' : 'A');

export const SearchKindEnum = wordEnum(
  'SearchKind',
  'Kind of a search result.',
  Object.keys(SEARCHABLE_TYPES),
  (kind) => `${article(kind)} ${kind.replace('-', ' ')}.`,
);

/** A resource that the global search found (docs/contract/resources.md#search). */
@ObjectType({ description: 'A resource that a search found.' })
export class SearchHit {
  @Field(() => SearchKindEnum, { description: 'Kind of the resource.' })
  kind!: string;

  /** Its name in GraphQL is not `id`: two searches can find the same resource with different scores. */
  @UuidField()
  @Field(() => ID, { name: 'resourceId', description: 'Id of the resource.' })
  id!: string;

  @UuidField()
  @Field(() => ID, { nullable: true, description: 'Id of the library of a file; null for the other kinds.' })
  libraryId!: string | null;

  @Field(() => String, { description: 'Display name of the resource.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Short name, or the username of a user; null for kinds without one.',
  })
  slug!: string | null;

  @Field(() => String, { nullable: true, description: 'Description of the resource; of a file its path.' })
  description!: string | null;

  /** Principal that owns the resource; null for kinds without owners. */
  ownerId!: string | null;

  @Field(() => Float, {
    description:
      'Relevance. 1: the name is `q`. 0.8: the name begins with `q`. 0.6: the name contains all words. ' +
      '0.4: name, slug, tags and description contain all words. 0.2: the name contains similar words.',
  })
  score!: number;

  /** ISO 8601, UTC. */
  @Field(() => DateTime, { description: 'Time of the last change of the resource.' })
  updatedAt!: string;
}

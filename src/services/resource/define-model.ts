import type { MetadataStorage } from '@mikro-orm/core';
import { Team } from '../../../entities/team.ts';
import { User } from '../../../entities/user.ts';
import { createModel, type ModelOptions } from '../../adapters/database/entity-model.ts';
import { equalsCondition } from '../../core/read/list-arguments.ts';
import { MAX_CHILDREN, toMany, toOne, type ListFilter, type Model, type Relation } from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';

/** Declares the read model of an entity. It is built after MikroORM has discovered the entities. */
export interface ModelDefinition {
  entity: EntityType;
  build: (metadata: MetadataStorage) => Model;
}

/**
 * Declares a read model by the properties that MikroORM's metadata does not contain: access, relations, search, sort
 * and filters.
 */
export const defineModel = (entity: EntityType, options: ModelOptions = {}): ModelDefinition => ({
  entity,
  build: (metadata) => createModel(metadata.get(entity as never), { schema: 'dws', ...options }),
});

/** The relation to the row whose id is in `column`. */
export const belongsTo = (entity: EntityType, column: string): Relation => toOne(() => modelFor(entity), column);

/** The relation to the rows whose column `foreign` contains the id of this row. Default `limit`: 1000 rows. */
export const hasMany = (entity: EntityType, foreign: string, sort: string, limit?: number): Relation =>
  toMany(() => modelFor(entity), foreign, sort, limit);

/** The relation to the rows `r` that `join`, a condition in SQL, relates to this row `p`. */
export const hasManyJoined = (entity: EntityType, join: string, sort: string): Relation => ({
  kind: 'many',
  model: () => modelFor(entity),
  join,
  sort,
  limit: MAX_CHILDREN,
});

/** The relation to the user of a column with principals, `user:<id>` or `team:<id>`. */
export const belongsToUser = (column: string): Relation => principalRelation(User, 'user', column);

/** The relation to the team of a column with principals, `user:<id>` or `team:<id>`. */
export const belongsToTeam = (column: string): Relation => principalRelation(Team, 'team', column);

const principalRelation = (entity: EntityType, type: 'user' | 'team', column: string): Relation => ({
  kind: 'one',
  model: () => modelFor(entity),
  join: `r.id = case when p.${column} like '${type}:%' then substr(p.${column}, 6)::uuid end`,
});

/** Filters by one field. A value that its column cannot have, such as an id that is not a UUID, finds nothing. */
export const equalsFilter =
  (entity: EntityType, field: string): ListFilter =>
  (value) =>
    equalsCondition(modelFor(entity), field, String(value));

const models = new Map<EntityType, Model>();

/** Builds the models. They do not depend on the database, so only the first call has an effect. */
export function buildModels(metadata: MetadataStorage, definitions: readonly ModelDefinition[]): void {
  if (models.size > 0) return;
  for (const { entity, build } of definitions) models.set(entity, build(metadata));
}

/** Returns the read model of an entity. Throws if it has none. */
export function modelFor(entity: EntityType): Model {
  const model = models.get(entity);
  if (!model) throw new Error(`${entity.name} has no read model`);
  return model;
}

/** Returns all entities with read models. */
export const modelledTypes = (): EntityType[] => [...models.keys()];

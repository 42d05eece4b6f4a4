import { Field, ObjectType, type ClassType } from 'type-graphql';
import { abilitiesAt, LEVEL, type Ability, type ResourceKind } from '../../src/core/permissions.ts';

const ABILITY_DESCRIPTIONS: Record<Ability, string> = {
  read: 'Read the resource.',
  participate: 'Read the feed and the comments, and comment.',
  write: 'Change the content of the resource.',
  edit: 'Change the name and description.',
  run: 'Run the resource, e.g. a query, a job or an agent.',
  refresh: 'Refresh the rows.',
  sync: 'Sync the files with their drive.',
  copy: 'Copy the resource and create snapshots.',
  share: 'Share the resource.',
  delete: 'Delete the resource.',
  addVisual: 'Create and change visuals.',
  deleteVisual: 'Delete visuals.',
  assignTags: 'Assign and remove tags.',
  changeOwner: 'Transfer the resource to another owner.',
};

const permissionsTypes = new Map<ResourceKind, ClassType>();

/** Returns the GraphQL type of a kind's permissions, e.g. `DatasetPermissions`: one boolean for each ability. */
export function permissionsType(kind: ResourceKind, type: string): ClassType {
  const known = permissionsTypes.get(kind);
  if (known) return known;
  @ObjectType(`${type}Permissions`, { description: `The permissions of the caller on a resource of type ${type}.` })
  class Permissions {}
  for (const ability of Object.keys(abilitiesAt(kind, LEVEL.none)) as Ability[])
    Field(() => Boolean, { description: ABILITY_DESCRIPTIONS[ability] })(Permissions.prototype, ability);
  permissionsTypes.set(kind, Permissions);
  return Permissions;
}

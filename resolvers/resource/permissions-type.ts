import { Field, ObjectType, type ClassType } from 'type-graphql';
import { abilitiesAt, LEVEL, type Ability, type ResourceKind } from '../../src/core/permissions.ts';

const ABILITY_DESCRIPTIONS: Record<Ability, string> = {
  read: 'See it.',
  write: 'Change what it says or does.',
  edit: 'Change its name and description.',
  run: 'Run queries with it.',
  refresh: 'Replace its rows by those of its query.',
  copy: 'Copy it or take snapshots.',
  share: 'Share it with others.',
  delete: 'Delete it.',
  addVisual: 'Add and change visuals.',
  deleteVisual: 'Delete visuals.',
  assignTags: 'Put tags on it.',
  changeOwner: 'Give it to somebody else.',
};

const permissionsTypes = new Map<ResourceKind, ClassType>();

/** The permissions object of a kind, e.g. `DatasetPermissions`: one boolean for each ability. */
export function permissionsType(kind: ResourceKind, type: string): ClassType {
  const known = permissionsTypes.get(kind);
  if (known) return known;
  @ObjectType(`${type}Permissions`, { description: `What the caller may do to a ${type}.` })
  class Permissions {}
  for (const ability of Object.keys(abilitiesAt(kind, LEVEL.none)) as Ability[])
    Field(() => Boolean, { description: ABILITY_DESCRIPTIONS[ability] })(Permissions.prototype, ability);
  permissionsTypes.set(kind, Permissions);
  return Permissions;
}

import type { MikroORM } from '@mikro-orm/postgresql';
import { ApiToken } from '../../entities/api-token.ts';
import { Dataset } from '../../entities/dataset.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Mail } from '../../entities/mail.ts';
import { Operation } from '../../entities/operation.ts';
import { SavedQuery } from '../../entities/saved-query.ts';
import { Session } from '../../entities/session.ts';
import { StoredFile } from '../../entities/stored-file.ts';
import { TeamMember } from '../../entities/team-member.ts';
import { Team } from '../../entities/team.ts';
import { User } from '../../entities/user.ts';
import { modelOf, type ModelExtras } from '../adapters/database/model-of.ts';
import type { Filter, Model, Relation } from '../core/read/model.ts';
import { toMany, toOne } from '../core/read/model.ts';
import type { Kind } from '../core/read/reader.ts';
import { readable } from './rights.ts';

const model = (kind: Kind) => () => modelFor(kind);

/** The user or the team that a principal names. */
const principal = (kind: Kind, type: 'user' | 'team'): Relation =>
  ({ kind: 'one', model: model(kind), join: `r.id = case when p.owner_id like '${type}:%' then substr(p.owner_id, 6)::uuid end` });

const ownerId: Filter = (value) => ({ sql: 'owner_id = ?', params: [/^(user|team):/.test(String(value)) ? value : `user:${String(value)}`] });

/** What all kinds with owners have in common. */
const owned = (more: ModelExtras = {}): ModelExtras => ({
  rights: readable, ...more,
  relations: { ownerUser: principal(User, 'user'), ownerTeam: principal(Team, 'team'), ...more.relations },
  filters: { ownerId, ...more.filters },
});

/** What the read path must be told of each kind beside what MikroORM knows: rights, relations, what is searched and sorted. */
const EXTRAS = new Map<Kind, ModelExtras>([
  [User, {
    key: { field: 'username', foldCase: true }, text: ['username', 'givenName', 'familyName', 'displayName', 'email'], order: 'username',
    sortable: ['username', 'displayName', 'givenName', 'familyName', 'email', 'enabled', 'createdAt', 'updatedAt'],
    relations: { memberships: toMany(model(TeamMember), 'user_id', 'joinedAt') },
  }],
  [Team, { relations: { members: toMany(model(TeamMember), 'team_id', 'joinedAt') } }],
  [TeamMember, { name: 'Membership', what: 'member', relations: { user: toOne(model(User), 'user_id'), team: toOne(model(Team), 'team_id') } }],
  [Session, { order: '-createdAt' }],
  [ApiToken, { what: 'token', order: '-createdAt' }],
  [Operation, { order: '-createdAt' }],
  [Mail, { text: ['to', 'subject'], sortable: ['to', 'subject', 'status', 'attempts', 'sentAt', 'createdAt', 'updatedAt'], order: '-createdAt', relations: { user: toOne(model(User), 'user_id') } }],
  [StoredFile, { what: 'file' }],
  [Datasource, owned({ sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'], relations: { storedFile: toOne(model(StoredFile), 'file_id') } })],
  [SavedQuery, owned({ what: 'query', relations: { datasource: toOne(model(Datasource), 'datasource_id') } })],
  [Dataset, owned({
    sortable: ['name', 'slug', 'records', 'size', 'dataUpdatedAt', 'createdAt', 'updatedAt'],
    relations: { datasource: toOne(model(Datasource), 'datasource_id'), savedQuery: toOne(model(SavedQuery), 'query_id') },
  })],
]);

const models = new Map<Kind, Model>();

/** Takes over what MikroORM found out about the entities. The entities are the same for every database, so once is enough. */
export function useMetadata(orm: MikroORM): void {
  if (models.size) return;
  for (const [kind, extras] of EXTRAS) models.set(kind, modelOf(orm.getMetadata().get(kind as never), { schema: 'dws', ...extras }, modelFor));
}

/** The model of a stored type. */
export function modelFor(kind: Kind): Model {
  const found = models.get(kind);
  if (!found) throw new Error(`The read path does not know ${kind.name}`);
  return found;
}

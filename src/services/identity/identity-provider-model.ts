import { IdentityProvider } from '../../../entities/identity-provider.ts';
import { Team } from '../../../entities/team.ts';
import { NO_ROWS } from '../../core/read/condition.ts';
import { defineModel, hasManyJoined } from '../resource/define-model.ts';

export const identityProviderModel = defineModel(IdentityProvider, {
  nodeAccess: ({ superuser, authMethod }) => (superuser && authMethod === 'session' ? null : NO_ROWS),
  searchedFields: ['name', 'domain', 'issuer'],
  sortable: ['name', 'domain', 'issuer', 'enabled', 'createdAt', 'updatedAt'],
  defaultSort: 'name',
  relations: {
    teams: hasManyJoined(Team, `r.id::text in (select jsonb_array_elements_text(p.team_ids))`, 'name'),
  },
});

import { AppGrant } from '../../../entities/app-grant.ts';
import { App } from '../../../entities/app.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';

/** A user's grants are visible to that user only, not even to superusers. */
const ownGrants: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

export const appGrantModel = defineModel(AppGrant, {
  label: 'grant to the app',
  accessFilter: ownGrants,
  searchedFields: [],
  defaultSort: '-createdAt',
  relations: { app: belongsTo(App, 'app_id') },
  computed: {
    appName: {
      sql: '(select a.name from dws.app a where a.tenant_id = p.tenant_id and a.id = p.app_id)',
      type: 'text',
    },
  },
});

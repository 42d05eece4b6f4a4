import { Connection } from '../../../entities/connection.ts';
import { Integration } from '../../../entities/integration.ts';
import { Library } from '../../../entities/library.ts';
import { Toolkit } from '../../../entities/toolkit.ts';
import { User } from '../../../entities/user.ts';
import { readable } from '../resource/access-filter.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';

/** Read by those who may read its library or toolkit. */
export const connectionModel = defineModel(Connection, {
  relations: {
    owner: belongsTo(User, 'owner_id'),
    integration: belongsTo(Integration, 'integration_id'),
    library: belongsTo(Library, 'library_id'),
    toolkit: belongsTo(Toolkit, 'toolkit_id'),
  },
  accessFilter(viewer) {
    const filter = readable(viewer);
    if (!filter) return null;
    const within = (table: string) =>
      `r.${table}_id in (select id from dws.${table} where tenant_id = ? and (${filter.sql}))`;
    return {
      sql: `${within('library')} or ${within('toolkit')}`,
      params: [viewer.tenantId, ...filter.params, viewer.tenantId, ...filter.params],
    };
  },
});

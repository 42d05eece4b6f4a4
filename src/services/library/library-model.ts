import { Integration } from '../../../entities/integration.ts';
import { LibraryFile } from '../../../entities/library-file.ts';
import { Library } from '../../../entities/library.ts';
import { User } from '../../../entities/user.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { DEFAULT_LIMIT } from '../../core/read/list-arguments.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { readableThrough } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

/** SQL of a column of the connection of a library. */
const connectionColumn = (column: string): string =>
  `(select c.${column} from dws.connection c where c.tenant_id = p.tenant_id and c.library_id = p.id)`;

export const libraryModel = defineOwnedModel(Library, {
  sortable: ['name', 'slug', 'fileCount', 'bytes', 'lastSyncAt', 'createdAt', 'updatedAt'],
  relations: {
    integration: belongsTo(Integration, 'integration_id'),
    files: hasMany(LibraryFile, 'library_id', 'path', DEFAULT_LIMIT),
  },
  computed: {
    type: {
      sql: '(select i.type from dws.integration i where i.tenant_id = p.tenant_id and i.id = p.integration_id)',
      type: 'text',
    },
    connectionStatus: { sql: connectionColumn('status'), type: 'text' },
    account: { sql: connectionColumn('account'), type: 'json' },
  },
});

const readableLibraries = readableThrough('library', 'own_library_id');

/** Filters the integrations that the viewer may read: all except integrations of libraries that are not readable. */
const readableIntegrations: AccessFilter = (viewer) => {
  const filter = readableLibraries(viewer);
  return filter && { sql: `r.own_library_id is null or ${filter.sql}`, params: filter.params };
};

export const integrationModel = defineModel(Integration, {
  accessFilter: readableIntegrations,
  sortable: ['name', 'type', 'createdAt', 'updatedAt'],
  relations: {
    library: belongsTo(Library, 'own_library_id'),
    creator: belongsTo(User, 'creator_id'),
    libraries: hasMany(Library, 'integration_id', 'name'),
  },
});

/** Filters a file with this path, or the files in the folder with this path and below. */
const folderFilter: ListFilter = (value) => {
  const path = String(value).replaceAll(/^\/+|(?<!\/)\/+$/g, '');
  return path === '' ? null : { sql: '(path = ? or starts_with(path, ?))', params: [path, `${path}/`] };
};

const statusFilter: ListFilter = (value) => ({ sql: 'status = ?', params: [value] });

/** SQL of a column of the stored file with the contents. */
const storedColumn = (column: string): string =>
  `(select f.${column} from dws.stored_file f where f.tenant_id = p.tenant_id and f.id = p.stored_file_id)`;

export const libraryFileModel = defineModel(LibraryFile, {
  label: 'file of a library',
  nodeAccess: throughParent(Library, 'library_id'),
  searchedFields: ['name', 'path'],
  sortable: ['name', 'path', 'size', 'status', 'modifiedAt', 'syncedAt', 'createdAt', 'updatedAt'],
  defaultSort: 'path',
  filters: { path: folderFilter, status: statusFilter },
  relations: { library: belongsTo(Library, 'library_id') },
  computed: {
    storedSize: { sql: storedColumn('size'), type: 'bigint' },
    sha256: { sql: storedColumn('sha256'), type: 'text' },
  },
});

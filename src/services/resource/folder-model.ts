import { Folder } from '../../../entities/folder.ts';
import { Resource } from '../../../entities/resource.ts';
import { containsPattern } from '../../core/read/list-arguments.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { belongsTo, defineModel, hasMany } from './define-model.ts';

/** Folders whose name contains a text, ignoring case. */
const nameFilter: ListFilter = (value) => ({ sql: 'name ilike ?', params: [containsPattern(String(value))] });

export const folderModel = defineModel(Folder, {
  relations: {
    parent: belongsTo(Folder, 'parent_id'),
    subfolders: hasMany(Folder, 'parent_id', 'name'),
    resources: hasMany(Resource, 'folder_id', 'name'),
  },
  filters: { name: nameFilter },
});

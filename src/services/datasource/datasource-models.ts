import { Dataset } from '../../../entities/dataset.ts';
import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import { readableThrough } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany, hasManyJoined } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';
import { MEMBER_ACCESS } from './suite.ts';

export const datasourceModel = defineOwnedModel(Datasource, {
  sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
  relations: {
    datasets: hasManyJoined(Dataset, 'r.datasource_id = p.id and r.parent_id is null', 'name'),
    savedQueries: hasMany(SavedQuery, 'datasource_id', 'name'),
    links: hasMany(DatasourceLink, 'source_datasource_id', 'createdAt'),
    storedFile: belongsTo(StoredFile, 'file_id'),
  },
});

/** Read through its source, so only the access to its target is checked. */
export const datasourceLinkModel = defineModel(DatasourceLink, {
  label: 'link',
  accessFilter: readableThrough('datasource', 'target_datasource_id'),
  nodeAccess: throughParent(Datasource, 'source_datasource_id'),
  relations: {
    source: belongsTo(Datasource, 'source_datasource_id'),
    target: belongsTo(Datasource, 'target_datasource_id'),
  },
});

export const savedQueryModel = defineOwnedModel(SavedQuery, {
  label: 'query',
  relations: {
    datasource: belongsTo(Datasource, 'datasource_id'),
    datasets: hasManyJoined(Dataset, 'r.query_id = p.id and r.parent_id is null', 'name'),
  },
});

export const storedFileModel = defineModel(StoredFile, { label: 'file' });

export const suiteModel = defineModel(Suite, { relations: { members: hasMany(SuiteMember, 'suite_id', 'position') } });

export const suiteMemberModel = defineModel(SuiteMember, { accessFilter: MEMBER_ACCESS });

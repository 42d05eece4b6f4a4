import { ApiClient } from '../../../entities/api-client.ts';
import { ClientDocument } from '../../../entities/client-document.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';
import { superusersOnly } from '../resource/node-access.ts';
import { MAX_DOCUMENTS } from './manifest.ts';

export const apiClientModel = defineModel(ApiClient, {
  label: 'client',
  key: { field: 'name', ignoreCase: false },
  nodeAccess: superusersOnly,
  searchedFields: ['name'],
  sortable: ['name', 'mode', 'createdAt', 'updatedAt'],
  defaultSort: 'name',
  relations: { documents: hasMany(ClientDocument, 'client_id', 'documentId', MAX_DOCUMENTS) },
});

export const clientDocumentModel = defineModel(ClientDocument, {
  label: 'document',
  nodeAccess: superusersOnly,
  searchedFields: [],
  relations: { client: belongsTo(ApiClient, 'client_id') },
});

import { SavedQuery } from '../../../entities/saved-query.ts';
import { ToolkitTool } from '../../../entities/toolkit-tool.ts';
import { Toolkit } from '../../../entities/toolkit.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const toolkitModel = defineOwnedModel(Toolkit, {
  sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
  relations: { tools: hasMany(ToolkitTool, 'toolkit_id', 'position') },
});

export const toolkitToolModel = defineModel(ToolkitTool, {
  label: 'tool',
  nodeAccess: throughParent(Toolkit, 'toolkit_id'),
  defaultSort: 'position',
  relations: { toolkit: belongsTo(Toolkit, 'toolkit_id'), savedQuery: belongsTo(SavedQuery, 'query_id') },
});

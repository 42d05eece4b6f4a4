import { SavedFilter } from '../../../entities/saved-filter.ts';
import { Share } from '../../../entities/share.ts';
import { belongsTo, belongsToTeam, belongsToUser, defineModel } from './define-model.ts';
import { throughVisibleResource } from './node-access.ts';

export const shareModel = defineModel(Share, {
  nodeAccess: throughVisibleResource,
  relations: {
    user: belongsToUser('principal'),
    team: belongsToTeam('principal'),
    datasetFilter: belongsTo(SavedFilter, 'dataset_filter_id'),
  },
});

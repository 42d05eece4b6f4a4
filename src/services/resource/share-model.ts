import { Share } from '../../../entities/share.ts';
import { belongsToTeam, belongsToUser, defineModel } from './define-model.ts';

export const shareModel = defineModel(Share, {
  relations: { user: belongsToUser('principal'), team: belongsToTeam('principal') },
});

import { App } from '../../../entities/app.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const appModel = defineOwnedModel(App, {
  sortable: ['name', 'slug', 'status', 'deployedAt', 'createdAt', 'updatedAt'],
});

import { ApiToken } from '../../../entities/api-token.ts';
import { defineModel } from '../resource/define-model.ts';

export const apiTokenModel = defineModel(ApiToken, { label: 'token', defaultSort: '-createdAt' });

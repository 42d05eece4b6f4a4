import { ApiToken } from '../../../entities/api-token.ts';
import { defineModel } from '../resource/define-model.ts';
import { ownRows } from '../resource/node-access.ts';

export const apiTokenModel = defineModel(ApiToken, { label: 'token', nodeAccess: ownRows, defaultSort: '-createdAt' });

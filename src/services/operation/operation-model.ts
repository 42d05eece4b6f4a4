import { Operation } from '../../../entities/operation.ts';
import { defineModel } from '../resource/define-model.ts';
import { ownRows } from '../resource/node-access.ts';

export const operationModel = defineModel(Operation, { nodeAccess: ownRows, defaultSort: '-createdAt' });

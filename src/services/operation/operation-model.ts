import { Operation } from '../../../entities/operation.ts';
import { defineModel } from '../resource/define-model.ts';

export const operationModel = defineModel(Operation, { defaultSort: '-createdAt' });

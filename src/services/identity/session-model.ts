import { Session } from '../../../entities/session.ts';
import { defineModel } from '../resource/define-model.ts';

export const sessionModel = defineModel(Session, { defaultSort: '-createdAt' });

import { StoredFile } from '../../../entities/stored-file.ts';
import { defineModel } from '../resource/define-model.ts';

export const storedFileModel = defineModel(StoredFile, { label: 'file' });

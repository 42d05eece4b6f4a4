import { UserSetting } from '../../../entities/user-setting.ts';
import { defineModel } from '../resource/define-model.ts';
import { ownSettings } from './user-setting.ts';

export const userSettingModel = defineModel(UserSetting, { accessFilter: ownSettings });

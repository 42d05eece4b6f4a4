import { UserSetting } from '../../../entities/user-setting.ts';
import { defineModel } from '../resource/define-model.ts';
import { USER_SETTING_ACCESS } from './user-setting.ts';

export const userSettingModel = defineModel(UserSetting, { accessFilter: USER_SETTING_ACCESS });

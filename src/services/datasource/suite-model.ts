import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import { defineModel, hasMany } from '../resource/define-model.ts';
import { MEMBER_ACCESS } from './suite.ts';

export const suiteModel = defineModel(Suite, { relations: { members: hasMany(SuiteMember, 'suite_id', 'position') } });

export const suiteMemberModel = defineModel(SuiteMember, { accessFilter: MEMBER_ACCESS });

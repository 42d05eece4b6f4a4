import { Field, InputType } from 'type-graphql';
import type { ShareLevel } from '../src/core/permissions.ts';
import { ShareLevelEnum } from './share.ts';

@InputType({ description: 'The access that a share grants.' })
export class ShareInput {
  @Field(() => ShareLevelEnum, { description: 'Access level. At most the caller’s own level.' })
  accessLevel!: ShareLevel;
}

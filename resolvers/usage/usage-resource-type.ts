import { Field, ObjectType } from 'type-graphql';
import { UsageResourceEnum } from '../../entities/usage-event.ts';
import { wordEnum } from '../../entities/word-enum.ts';
import {
  USAGE_CATEGORIES,
  USAGE_MODES,
  USAGE_UNITS,
  type UsageCategory,
  type UsageMode,
  type UsageResource,
  type UsageUnit,
} from '../../src/core/usage.ts';

const UsageCategoryEnum = wordEnum(
  'UsageCategory',
  'Category of resource types.',
  USAGE_CATEGORIES,
  (category) => ({ ai: 'AI.', compute: 'Time that code and jobs run.', storage: 'Stored bytes.' })[category],
);

const UsageModeEnum = wordEnum(
  'UsageMode',
  'How a resource type is measured.',
  USAGE_MODES,
  (mode) => ({ event: 'At each occurrence.', gauge: 'At a point in time, once a UTC day.' })[mode],
);

const UsageUnitEnum = wordEnum(
  'UsageUnit',
  'Unit of quantities, before credits are computed.',
  USAGE_UNITS,
  (unit) => ({ dollar: 'US dollars.', run: 'Runs.', second: 'Seconds.', byte: 'Bytes.', index: 'Indexes.' })[unit],
);

@ObjectType('UsageResourceType', { description: 'A kind of usage that is metered.' })
export class UsageResourceTypeType {
  @Field(() => UsageResourceEnum, { description: 'Value of `resourceType` in usage events.' })
  slug!: UsageResource;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => UsageCategoryEnum, { description: 'Category.' })
  category!: UsageCategory;

  @Field(() => UsageModeEnum, { description: 'How it is measured.' })
  mode!: UsageMode;

  @Field(() => UsageUnitEnum, { description: 'Unit of its quantities.' })
  unit!: UsageUnit;
}

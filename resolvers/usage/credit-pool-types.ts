import { Field, Float, ObjectType } from 'type-graphql';
import { wordEnum } from '../../entities/word-enum.ts';
import {
  STALENESS_LEVELS,
  SYNC_FAILURES,
  type StalenessLevel,
  type SyncFailure,
} from '../../src/core/license-manager.ts';
import { DateTime } from '../../src/core/scalars.ts';

const SyncFailureEnum = wordEnum(
  'CreditSyncFailure',
  'Why a sync with the license manager failed.',
  SYNC_FAILURES,
  (code) =>
    ({
      lm_unreachable: 'The license manager does not respond in time.',
      lm_unavailable: 'The license manager is overloaded or fails: status 429, or 500 and above.',
      lm_error: 'The license manager responds with another status, or with a body that is not understood.',
      license_not_recognized: 'The license manager does not know the license: status 401, 403 or 404.',
    })[code],
);

const StalenessLevelEnum = wordEnum(
  'StalenessLevel',
  'Time since the last successful sync with the license manager.',
  STALENESS_LEVELS,
  (level) =>
    ({
      fresh: 'Less than 24 hours, or there is no license manager.',
      aging: '24 to 72 hours.',
      stale: '72 hours to 14 days.',
      expired: '14 days and more, or there was no successful sync.',
    })[level],
);

/** See docs/contract/usage.md#credit-pool. */
@ObjectType('CreditPool', { description: 'Credits of the tenant in the current UTC month.' })
export class CreditPoolType {
  @Field(() => Float, {
    description: 'Included credits: the last report of the license manager, else `CREDITS_INCLUDED`.',
  })
  included!: number;

  @Field(() => Float, { description: 'Credits that were used, of all resource types.' })
  used!: number;

  @Field(() => Float, { description: 'Credits that are left; 0 if more were used than are included.' })
  remaining!: number;
}

@ObjectType('CreditSync', {
  description: 'State of the sync with the license manager. Without one the level is `FRESH`, and all else is null.',
})
export class CreditSyncType {
  @Field(() => DateTime, { nullable: true, description: 'Time of the last successful sync; null if there was none.' })
  syncedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last sync if it failed; null if it succeeded.' })
  lastSyncFailedAt!: Date | null;

  @Field(() => SyncFailureEnum, { nullable: true, description: 'Why the last sync failed; null if it succeeded.' })
  lastSyncFailureCode!: SyncFailure | null;

  @Field(() => StalenessLevelEnum, { description: 'Age of the last successful sync.' })
  stalenessLevel!: StalenessLevel;
}

import { describe, expect, test } from 'vitest';
import type { ModelTier } from '../../src/core/ai.ts';
import { combineProfiles, type UsageLimits, type UsageProfileCandidates } from '../../src/core/usage-profile.ts';

const profile = (creditCapPerMonth: number | null, ...allowedModelTiers: ModelTier[]): UsageLimits => ({
  creditCapPerMonth,
  allowedModelTiers,
});

const DEFAULT = profile(1000, 'everyday', 'advanced');
const NONE = profile(0);
const SMALL = profile(10, 'strategic');
const LARGE = profile(500, 'everyday');
const UNLIMITED = profile(null, 'advanced');

interface Case extends Partial<UsageProfileCandidates<UsageLimits>> {
  name: string;
  expected: UsageLimits;
  from: UsageLimits[];
  source: string;
}

const CASES: Case[] = [
  { name: 'the default without any other', expected: DEFAULT, from: [DEFAULT], source: 'default' },
  { name: 'an own profile', own: SMALL, expected: SMALL, from: [SMALL], source: 'own' },
  {
    name: 'an own profile rather than more generous ones of teams',
    own: NONE,
    teams: [LARGE, UNLIMITED],
    expected: profile(0),
    from: [NONE],
    source: 'own',
  },
  {
    name: 'the profile of the only team, though the default is higher',
    teams: [SMALL],
    expected: SMALL,
    from: [SMALL],
    source: 'team',
  },
  { name: 'a cap of 0 of the only team', teams: [NONE], expected: profile(0), from: [NONE], source: 'team' },
  {
    name: 'the highest cap and all tiers of two teams, in their order',
    teams: [SMALL, LARGE],
    expected: profile(500, 'everyday', 'strategic'),
    from: [SMALL, LARGE],
    source: 'team',
  },
  {
    name: 'no cap if one team has none, listed first',
    teams: [UNLIMITED, SMALL, LARGE],
    expected: profile(null, 'everyday', 'advanced', 'strategic'),
    from: [UNLIMITED, SMALL, LARGE],
    source: 'team',
  },
  {
    name: 'no cap if one team has none, listed last',
    teams: [NONE, LARGE, UNLIMITED],
    expected: profile(null, 'everyday', 'advanced'),
    from: [NONE, LARGE, UNLIMITED],
    source: 'team',
  },
  {
    name: 'a cap together with one of 0',
    teams: [NONE, SMALL],
    expected: profile(10, 'strategic'),
    from: [NONE, SMALL],
    source: 'team',
  },
  {
    name: 'the tiers in their order, however a profile lists them',
    own: profile(1, 'strategic', 'everyday'),
    expected: profile(1, 'everyday', 'strategic'),
    from: [profile(1, 'strategic', 'everyday')],
    source: 'own',
  },
];

describe('the effective usage profile', () => {
  test.for(CASES)('is $name', ({ own = null, teams = [], expected, from, source }) => {
    expect(combineProfiles({ own, teams, fallback: DEFAULT })).toEqual({ ...expected, source, profiles: from });
  });
});

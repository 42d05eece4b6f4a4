const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Examples of the request bodies of usage profiles, by operation id. */
export const USAGE_BODIES: Record<string, unknown> = {
  createUsageProfile: {
    name: 'Research',
    slug: 'research',
    description: 'For teams that compare models.',
    creditCapPerMonth: 5000,
    allowedModelTiers: ['everyday', 'advanced', 'strategic'],
  },
  updateUsageProfile: { creditCapPerMonth: 2500, isDefault: true },
  setTeamUsageProfile: { profileId: ID },
  setUserUsageProfile: { profileId: ID },
};

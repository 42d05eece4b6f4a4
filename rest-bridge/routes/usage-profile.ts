import { kind } from '../kind.ts';
import { confirmation, resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, put, type RouteOptions } from '../route.ts';

interface UsageProfile {
  id: string;
}

const usageProfile = resource<UsageProfile>(
  `id tenant slug naturalId name description creditCapPerMonth allowedModelTiers isUnlimited isDefault system
  createdAt updatedAt`,
  ({ id }) => ({ self: `/usage-profiles/${id}`, 'svc:usage-profile': `/usage-profiles/${id}` }),
);

const assignment = value('profileId profile { id name slug creditCapPerMonth allowedModelTiers }');

/** The team or the user is looked up first. */
const forBilling: RouteOptions = { permission: 'billing:manage' };

export default [
  ...kind('usage-profiles', 'usage-profile', usageProfile, {
    without: ['delete'],
    rows: {
      create: {
        status: 200,
        example: {
          name: 'Research',
          slug: 'research',
          description: 'For teams that compare models.',
          creditCapPerMonth: 5000,
          allowedModelTiers: ['everyday', 'advanced', 'strategic'],
        },
      },
      update: { example: { creditCapPerMonth: 2500, isDefault: true } },
    },
    aspects: [],
  }),
  del('/usage-profiles/:id', 'deleteUsageProfile', confirmation),
  get('/teams/:id/ai/profile', 'team.usageProfileAssignment', assignment, forBilling),
  put('/teams/:id/ai/profile', 'setTeamUsageProfile', assignment, {
    ...forBilling,
    example: { profileId: EXAMPLE_ID },
  }),
  get('/users/:username/ai/profile', 'user.usageProfileAssignment', assignment, forBilling),
  put('/users/:username/ai/profile', 'setUserUsageProfile', assignment, {
    ...forBilling,
    example: { profileId: EXAMPLE_ID },
  }),
  get(
    '/me/usage',
    'myUsage',
    value(
      `profile { source profiles { name slug } creditCapPerMonth isUnlimited allowedModelTiers }
      used reserved cap remaining agents { id name used reserved } resetsAt`,
    ),
  ),
];

import { collection, resource, value } from '../present.ts';
import { get } from '../route.ts';

interface UsageEvent {
  actor: string;
  entityType: string;
  entityId: string;
}

const event = resource<UsageEvent>(
  'id occurredAt actor actorType entityType entityId resourceType quantity credits metadata key',
  ({ actor, entityType, entityId }, _, pathOfKind) => ({
    'svc:user': actor.startsWith('user:') ? `/users/${actor.slice('user:'.length)}` : undefined,
    'svc:resource': pathOfKind({ kind: entityType, id: entityId }),
  }),
);

const TOTALS = 'totalCredits totalEvents';
const POOL = 'creditPool { included used remaining }';
const BUDGETS = `budgets {
  entityId entityType monthlyBudget creditsUsed isOverBudget budgetPercent budgetRemaining entity { name slug ownerId }
}`;
const REPORT = `usageSummary { entityId entityType resourceType ${TOTALS} } dailyTotals { date resourceType totalCredits }
  ${BUDGETS} ${POOL} sync { syncedAt lastSyncFailedAt lastSyncFailureCode stalenessLevel }`;
const TOP = `windowDays startDate endDate
  topApps { entityId entityType name slug ${TOTALS} } topUsers { actor actorType displayName ${TOTALS} }`;

export default [
  get('/usage', 'usageReport', value(REPORT)),
  get('/usage/monthly', 'usageHistory', value(`history { month resourceType ${TOTALS} } ${POOL}`)),
  get('/usage/top-consumers', 'topConsumers', value(TOP)),
  get('/usage/events', 'usageEvents', collection('usage-event', event)),
  get('/usage/resource-types', 'usageResourceTypes', value('*')),
];

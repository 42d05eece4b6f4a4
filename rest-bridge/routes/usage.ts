import { collection, resource } from '../present.ts';
import { get, plain } from '../route.ts';

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

export default [
  get('/usage/events', 'usageEvents', collection('usage-event', event)),
  plain('GET', '/usage/resource-types', 'usageResourceTypes'),
];

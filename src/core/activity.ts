import type { ResourceKind } from './permissions.ts';

/** What happens to everything that people own. */
export const OWNED_EVENTS = [
  'created',
  'updated',
  'deleted',
  'owner.changed',
  'shared',
  'unshared',
  'tagged',
  'untagged',
  'folder.moved',
] as const;
export type OwnedEvent = (typeof OWNED_EVENTS)[number];

/** What happens to one kind alone. */
export const KIND_EVENTS = {
  dataset: [
    'refreshed',
    'refresh.failed',
    'draft.committed',
    'copied',
    'snapshot.created',
    'snapshot.promoted',
    'snapshot.deleted',
  ],
  datasource: ['connection.changed'],
  team: ['created', 'updated', 'deleted', 'member.added', 'member.removed', 'member.role.changed'],
} as const;

type KindEvents = typeof KIND_EVENTS;
export type ActivityEventName = OwnedEvent | KindEvents[keyof KindEvents][number];

/** What an activity is called: the kind's word and the event, e.g. `dataset.owner.changed` (contract 9). */
export type ActivityType = `${ResourceKind}.${ActivityEventName}`;

/** Something that somebody did to a resource, ready to be written. */
export interface ActivityEvent {
  kind: ResourceKind;
  /** Name and owner as they are when it happens. */
  resource: { id: string; name: string; ownerId: string | null };
  event: ActivityEventName;
  /** One sentence for people. It holds no values of data and no secrets: whoever may read the resource reads it. */
  message: string;
  data?: Record<string, unknown>;
}

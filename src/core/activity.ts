import type { ResourceKind } from './permissions.ts';

/** Activity events of every kind with owners. */
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
type OwnedEvent = (typeof OWNED_EVENTS)[number];

/** Activity events of single kinds. */
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

/** Type of an activity: kind and event, e.g. `dataset.owner.changed` (docs/contract.md#activity). */
export type ActivityType = `${ResourceKind}.${ActivityEventName}`;

/** An activity event to store. */
export interface ActivityEvent {
  kind: ResourceKind;
  /** The resource, with its name and owner at the time of the event. */
  resource: { id: string; name: string; ownerId: string | null };
  event: ActivityEventName;
  /** Sentence for display. It contains no data values and no secrets: every reader of the resource sees it. */
  message: string;
  data?: Record<string, unknown>;
}

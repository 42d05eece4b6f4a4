import { ABILITIES, type ResourceKind } from './permissions.ts';

/** Activity events of every kind with owners, and what they report. */
const OWNED_EVENTS = {
  created: 'The resource was created.',
  updated: 'Fields of the resource were changed.',
  deleted: 'The resource was deleted.',
  'owner.changed': 'The resource got another owner.',
  shared: 'The resource was shared with a user or team, or a share was changed.',
  unshared: 'A share was deleted.',
  tagged: 'A tag was assigned.',
  untagged: 'A tag was removed.',
  'folder.moved': 'The resource was moved into a folder or out of one.',
} as const;

/** Activity events of single kinds. */
const KIND_EVENTS = {
  dataset: {
    refreshed: 'A refresh replaced the rows.',
    'refresh.failed': 'A refresh failed.',
    'draft.committed': 'A draft replaced the definition.',
    copied: 'The dataset was copied.',
    'snapshot.created': 'A snapshot was created.',
    'snapshot.promoted': 'The rows of a snapshot replaced the rows of the dataset.',
    'snapshot.deleted': 'A snapshot was deleted.',
  },
  job: {
    'draft.committed': 'A draft replaced the fields, datasets and actions.',
    'run.failed': 'A run failed.',
  },
  datasource: { 'connection.changed': 'The configuration or the secrets of the connection were changed.' },
  library: {
    connected: 'A user authorized the connection to the drive.',
    disconnected: 'The connection to the drive was ended.',
    synced: 'A sync brought the files up to date.',
  },
  assistant: { 'icon.changed': 'Another icon was uploaded, or the uploaded one was removed.' },
  toolkit: {
    'config.changed': 'The configuration or its secrets were changed.',
    connected: 'A user authorized the connection to the server.',
    disconnected: 'The connection to the server was ended.',
  },
  team: {
    created: 'The team was created.',
    updated: 'Fields of the team were changed.',
    deleted: 'The team was deleted.',
    'member.added': 'A user became a member.',
    'member.removed': 'A user left the team or was removed.',
    'member.role.changed': 'A member got another role.',
  },
  comment: { added: 'A comment was created in the team.' },
} as const;

type KindEvents = typeof KIND_EVENTS;
export type ActivityEventName =
  | keyof typeof OWNED_EVENTS
  | { [K in keyof KindEvents]: keyof KindEvents[K] }[keyof KindEvents];

/** Type of an activity: kind and event, e.g. `dataset.owner.changed` (docs/contract/resources.md#activity). */
export type ActivityType = `${ResourceKind}.${ActivityEventName}`;

const typesOf = (kind: string, events: object): [ActivityType, string][] =>
  Object.entries(events).map(([event, description]) => [`${kind}.${event}` as ActivityType, description]);

const OWNED_KINDS = Object.entries(ABILITIES).flatMap(([kind, abilities]) =>
  (abilities as readonly string[]).includes('changeOwner') ? [kind] : [],
);

/** Descriptions of the types of activities. A type is never removed: activities of older versions have it. */
export const ACTIVITY_TYPES: ReadonlyMap<ActivityType, string> = new Map([
  ...OWNED_KINDS.flatMap((kind) => typesOf(kind, OWNED_EVENTS)),
  ...Object.entries(KIND_EVENTS).flatMap(([kind, events]) => typesOf(kind, events)),
]);

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

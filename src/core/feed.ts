import { ACTIVITY_TYPES, type ActivityEvent, type ActivityEventName, type ActivityType } from './activity.ts';

/**
 * The events that the feed of a team shows, of every kind that has them (docs/contract/people.md#feeds). A kind
 * that declares one of these events is shown from then on.
 */
const FEED_EVENTS: ReadonlySet<ActivityEventName> = new Set<ActivityEventName>([
  'created',
  'updated',
  'connection.changed',
  'config.changed',
  'connected',
  'disconnected',
  'deleted',
  'shared',
  'draft.committed',
  'refresh.failed',
  'run.failed',
  'synced',
  'added',
]);

const eventOf = (type: ActivityType) => type.slice(type.indexOf('.') + 1) as ActivityEventName;

/** Returns `datasetDraftCommitted` for `dataset.draft.committed`. */
const toFeedType = (type: ActivityType): string => type.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The types of feed items, `<kind><Event>`, by the types of their activities. */
export const FEED_TYPES: ReadonlyMap<ActivityType, string> = new Map(
  [...ACTIVITY_TYPES.keys()].filter((type) => FEED_EVENTS.has(eventOf(type))).map((type) => [type, toFeedType(type)]),
);

/** Returns whether an activity is in the feed of a team: the team that owned the resource at that time. */
export const isInFeed = ({ kind, event, resource }: ActivityEvent): boolean =>
  resource.ownerId?.startsWith('team:') === true && FEED_TYPES.has(`${kind}.${event}`);

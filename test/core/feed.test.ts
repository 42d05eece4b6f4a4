import { expect, test } from 'vitest';
import type { ActivityEvent } from '../../src/core/activity.ts';
import { FEED_TYPES, isInFeed } from '../../src/core/feed.ts';

test('the type of a feed item is the kind and the event of its activity in one word', () => {
  expect(Object.fromEntries(FEED_TYPES)).toMatchObject({
    'report.created': 'reportCreated',
    'query.updated': 'queryUpdated',
    'dataset.shared': 'datasetShared',
    'dataset.deleted': 'datasetDeleted',
    'dataset.draft.committed': 'datasetDraftCommitted',
    'dataset.refresh.failed': 'datasetRefreshFailed',
    'datasource.connection.changed': 'datasourceConnectionChanged',
    'toolkit.config.changed': 'toolkitConfigChanged',
    'comment.added': 'commentAdded',
    'team.updated': 'teamUpdated',
  });
  expect(new Set(FEED_TYPES.values()).size).toBe(FEED_TYPES.size);
});

test.for([
  'dataset.refreshed',
  'dataset.copied',
  'dataset.snapshot.created',
  'report.tagged',
  'report.unshared',
  'report.folder.moved',
  'report.owner.changed',
  'team.member.added',
  'team.member.removed',
] as const)('%s is not shown', (type) => expect(FEED_TYPES.has(type)).toBe(false));

test('a feed contains only activities of resources that the team owned', () => {
  const eventOf = (ownerId: string | null, event: ActivityEvent['event']): ActivityEvent => ({
    kind: 'report',
    resource: { id: 'r', name: 'Sales', ownerId },
    event,
    message: 'ann did it',
  });
  expect(isInFeed(eventOf('team:t', 'created'))).toBe(true);
  expect(isInFeed(eventOf('team:t', 'tagged'))).toBe(false);
  expect(isInFeed(eventOf('user:u', 'created'))).toBe(false);
  expect(isInFeed(eventOf(null, 'created'))).toBe(false);
});

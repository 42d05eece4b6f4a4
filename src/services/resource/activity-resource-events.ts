import type { DatasetReference } from '../../../entities/dataset-reference.ts';
import type { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import type { Job } from '../../../entities/job.ts';
import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { Report } from '../../../entities/report.ts';
import type { Share } from '../../../entities/share.ts';
import type { TagAssignment } from '../../../entities/tag-assignment.ts';
import type { ActivityEventName } from '../../core/activity.ts';
import { LEVEL } from '../../core/permissions.ts';
import type { RowChange } from '../../core/platform.ts';
import { printPrincipal } from '../../core/viewer.ts';
import { joinWords, reportedFields, type EventDraft } from './activity-draft.ts';

type Resource = EventDraft['resource'];

/** Drafts the events for a change of a resource with an owner: one each for owner, folder and every kind of update. */
export function draftResourceEvents(
  { kind, events = {}, silent }: OwnedKind<OwnedRow>,
  { type, fields, before }: RowChange,
  row: OwnedRow,
): EventDraft[] {
  const common = { kind, resource: row, keys: [] };
  if (type !== 'update') return [{ ...common, event: `${type}d`, data: {}, sentence: (name) => `${type}d ${name}` }];

  const drafts: EventDraft[] = [];
  const updates = new Map<ActivityEventName, string[]>();
  for (const field of reportedFields(fields, silent)) {
    if (field === 'ownerId') drafts.push({ kind, ...ownerEvent(row, String(before['ownerId'])) });
    else if (field === 'folderId') drafts.push({ kind, ...folderEvent(row) });
    else {
      const event = events[field] ?? 'updated';
      updates.set(event, [...(updates.get(event) ?? []), field]);
    }
  }
  for (const [event, changed] of updates)
    drafts.push({
      ...common,
      event,
      data: { fields: changed },
      sentence: (name) => updateSentence(event, changed, name),
    });
  return drafts;
}

const ownerEvent = (row: OwnedRow, formerOwner: string): Omit<EventDraft, 'kind'> => ({
  resource: row,
  event: 'owner.changed',
  data: { from: printPrincipal(formerOwner), to: printPrincipal(row.ownerId) },
  keys: [row.ownerId],
  sentence: (name, [owner]) => `gave ${name} to ${owner}`,
});

function folderEvent(row: OwnedRow): Omit<EventDraft, 'kind'> {
  const common = { resource: row, event: 'folder.moved', data: { folderId: row.folderId ?? null } } as const;
  return row.folderId
    ? {
        ...common,
        keys: [`folder:${row.folderId}`],
        sentence: (name, [folder]) => `moved ${name} to the folder ${folder}`,
      }
    : { ...common, keys: [], sentence: (name) => `took ${name} out of its folder` };
}

const updateSentence = (event: ActivityEventName, fields: readonly string[], name: string): string =>
  event === 'updated'
    ? `changed ${joinWords(fields)} of ${name}`
    : `changed the ${event.replace('.changed', '')} of ${name}`;

const SHARE_LEVEL_NAMES: Record<number, string> = {
  [LEVEL.none]: 'None',
  [LEVEL.view]: 'View',
  [LEVEL.edit]: 'Edit',
  [LEVEL.admin]: 'Admin',
};

/** Drafts the event for a new, changed or deleted share of a resource. */
export function draftShareEvent({ type }: RowChange, share: Share, resource: Resource): EventDraft {
  const { kind, principal, accessLevel, datasetFilterId, restrictFields } = share;
  const principalId = printPrincipal(principal);
  const common = { kind, resource, keys: [principal] };
  if (type === 'delete')
    return {
      ...common,
      event: 'unshared',
      data: { principalId },
      sentence: (name, [whom]) => `stopped sharing ${name} with ${whom}`,
    };
  const part = datasetFilterId || restrictFields ? 'a part of ' : '';
  return {
    ...common,
    event: 'shared',
    data: { principalId, accessLevel },
    sentence: (name, [whom]) => `shared ${part}${name} with ${whom} (${SHARE_LEVEL_NAMES[accessLevel]})`,
  };
}

/** Drafts the event for a tag that is assigned to a resource or removed from it. */
export const draftTagEvent = ({ type }: RowChange, { kind, tagId }: TagAssignment, resource: Resource): EventDraft => ({
  kind,
  resource,
  data: { tagId },
  keys: [`tag:${tagId}`],
  ...(type === 'delete'
    ? { event: 'untagged', sentence: (name, [tag]) => `took the tag ${tag} off ${name}` }
    : { event: 'tagged', sentence: (name, [tag]) => `tagged ${name} with ${tag}` }),
});

const REFERENCE_SENTENCES = {
  create: (alias: string, name: string) => `attached the dataset ${alias} to ${name}`,
  update: (alias: string, name: string) => `changed the dataset ${alias} of ${name}`,
  delete: (alias: string, name: string) => `took the dataset ${alias} out of ${name}`,
};

/** Drafts the event for a change of a report's reference to a dataset. */
export const draftReferenceEvent = ({ type }: RowChange, { alias }: DatasetReference, report: Report): EventDraft => ({
  kind: 'report',
  resource: report,
  event: 'updated',
  keys: [],
  data: { fields: ['datasetReferences'], alias },
  sentence: (name) => REFERENCE_SENTENCES[type](alias, name),
});

const ACTION_SENTENCES = {
  create: (action: string, name: string) => `added the action ${action} to ${name}`,
  update: (action: string, name: string) => `changed the action ${action} of ${name}`,
  delete: (action: string, name: string) => `took the action ${action} out of ${name}`,
};

/** Drafts the event for a change of a dataset or an action of a job. It contains no settings. */
export function draftJobPartEvent(type: RowChange['type'], part: JobDataset | JobAction, job: Job): EventDraft {
  const common = { kind: 'job' as const, resource: job, event: 'updated' as const, keys: [] };
  if (part instanceof JobDataset) {
    const { alias } = part;
    const data = { fields: ['datasets'], alias };
    return { ...common, data, sentence: (name) => REFERENCE_SENTENCES[type](alias, name) };
  }
  const data = { fields: ['actions'], actionId: part.id };
  return { ...common, data, sentence: (name) => ACTION_SENTENCES[type](part.name, name) };
}

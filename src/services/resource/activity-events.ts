import { AppFile } from '../../../entities/app-file.ts';
import { App } from '../../../entities/app.ts';
import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { Job } from '../../../entities/job.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { Report } from '../../../entities/report.ts';
import { Share } from '../../../entities/share.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { TeamComment } from '../../../entities/team-comment.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { TemplateFile } from '../../../entities/template-file.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import { TemplateProcessor } from '../../../entities/template-processor.ts';
import { Template } from '../../../entities/template.ts';
import type { ActivityEvent } from '../../core/activity.ts';
import type { RowChange, Transaction } from '../../core/platform.ts';
import type { EventDraft } from './activity-draft.ts';
import {
  draftJobPartEvent,
  draftReferenceEvent,
  draftResourceEvents,
  draftShareEvent,
  draftTagEvent,
} from './activity-resource-events.ts';
import { draftCommentEvent, draftMemberEvent, draftTeamEvents } from './activity-team-events.ts';
import { FILE_SENTENCES, type TemplatePart, draftTemplatePartEvent } from './activity-template-events.ts';
import { type ActivityActor, loadNames } from './activity.ts';
import { isDraft } from './draft-row.ts';

/**
 * Returns the activity events for the changes of a unit of work. They derive from the written rows. So no service has
 * to create events, a new kind has them by its declaration, and a change without effect has none.
 */
export async function collectActivityEvents(
  viewer: ActivityActor,
  tx: Transaction,
  changes: readonly RowChange[],
): Promise<ActivityEvent[]> {
  if (changes.length === 0) return [];
  // Rows that are created or deleted with their resource have no events of their own.
  const wholeResources = new Set(
    changes.filter(({ type }) => type !== 'update').map(({ row }) => (row as OwnedRow).id),
  );
  const drafts: EventDraft[] = [];
  for (const change of changes) drafts.push(...(await draftEvents(viewer, tx, change, wholeResources)));
  return withMessages(viewer, tx, withoutRepeats(drafts));
}

/** Returns the first of the drafts that report the same list of a resource, which was replaced as a whole. */
function withoutRepeats(drafts: readonly EventDraft[]): EventDraft[] {
  const known = new Set<string>();
  return drafts.filter(({ resource, replaced }) => {
    const key = replaced && `${resource.id} ${replaced}`;
    if (key === undefined) return true;
    return known.has(key) ? false : known.add(key);
  });
}

/** Adds the messages to drafts of events. */
async function withMessages(viewer: ActivityActor, tx: Transaction, drafts: EventDraft[]): Promise<ActivityEvent[]> {
  const nameOf = await loadNames(tx, viewer.tenantId, [...new Set(drafts.flatMap(({ keys }) => keys))]);
  return drafts.map(({ keys, sentence, replaced: _, ...event }) => ({
    ...event,
    message: `${viewer.username} ${sentence(event.resource.name, keys.map(nameOf))}`,
  }));
}

async function draftEvents(
  viewer: ActivityActor,
  tx: Transaction,
  change: RowChange,
  wholeResources: ReadonlySet<string>,
): Promise<EventDraft[]> {
  const { row } = change;
  if (row instanceof Team) return draftTeamEvents(change, row);
  if (row instanceof TeamMember) {
    const team = wholeResources.has(row.teamId) ? null : await tx.findOne(Team, { id: row.teamId });
    return team ? [draftMemberEvent(viewer, change, row, team)] : [];
  }
  if (row instanceof TeamComment) {
    const team = change.type === 'create' ? await tx.findOne(Team, { id: row.teamId }) : null;
    return team ? [draftCommentEvent(row, team)] : [];
  }
  if (row instanceof DatasetReference) {
    const report = wholeResources.has(row.reportId) ? null : await tx.findOne(Report, { id: row.reportId });
    return report ? [draftReferenceEvent(change, row, report)] : [];
  }
  if (row instanceof JobDataset || row instanceof JobAction || row instanceof JobActionCondition)
    return draftJobPart(tx, change, row, wholeResources);
  if (row instanceof TemplateFile || row instanceof TemplateInput || row instanceof TemplateProcessor)
    return draftTemplatePart(tx, change, row, wholeResources);
  if (row instanceof AppFile) {
    const app = wholeResources.has(row.appId) ? null : await tx.findOne(App, { id: row.appId });
    return app ? [draftAppFileEvent(change.type, row, app)] : [];
  }
  const kind = OWNED_KINDS.find(({ entity }) => row.constructor === entity);
  // A draft reports its changes when it is committed.
  if (kind && isDraft(kind, row)) return [];
  if (kind) return draftResourceEvents(kind, change, row as OwnedRow);
  if (!(row instanceof Share || row instanceof TagAssignment) || wholeResources.has(row.resourceId)) return [];
  const resourceKind = OWNED_KINDS.find((one) => one.kind === row.kind);
  const resource = resourceKind && (await tx.findOne<OwnedRow>(resourceKind.entity, { id: row.resourceId }));
  if (!resource) return [];
  return [row instanceof Share ? draftShareEvent(change, row, resource) : draftTagEvent(change, row, resource)];
}

/** Drafts the event for a change of a dataset, action or run condition of a job. Parts of drafts have none. */
async function draftJobPart(
  tx: Transaction,
  change: RowChange,
  row: JobDataset | JobAction | JobActionCondition,
  wholeResources: ReadonlySet<string>,
): Promise<EventDraft[]> {
  const part = row instanceof JobActionCondition ? await tx.findOne(JobAction, { id: row.jobActionId }) : row;
  const job = part && !wholeResources.has(part.jobId) ? await tx.findOne(Job, { id: part.jobId }) : null;
  return job && part && !job.parentId ? [draftJobPartEvent(part === row ? change.type : 'update', part, job)] : [];
}

/** Drafts the event for a change of a file, input or processor of a template. Parts of drafts have none. */
async function draftTemplatePart(
  tx: Transaction,
  { type }: RowChange,
  part: TemplatePart,
  wholeResources: ReadonlySet<string>,
): Promise<EventDraft[]> {
  const template = wholeResources.has(part.templateId) ? null : await tx.findOne(Template, { id: part.templateId });
  return template && !template.parentId ? [draftTemplatePartEvent(type, part, template)] : [];
}

/** Drafts the event for a change of a file of an app. */
function draftAppFileEvent(type: RowChange['type'], { path }: AppFile, app: App): EventDraft {
  return {
    kind: 'app',
    resource: app,
    event: 'updated',
    keys: [],
    data: { fields: ['files'], path },
    sentence: (name) => FILE_SENTENCES[type](path, name),
  };
}

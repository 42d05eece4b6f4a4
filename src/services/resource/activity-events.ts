import { DatasetReference } from '../../../entities/dataset-reference.ts';
import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { Report } from '../../../entities/report.ts';
import { Share } from '../../../entities/share.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import type { ActivityEventName, ActivityEvent } from '../../core/activity.ts';
import { LEVEL } from '../../core/permissions.ts';
import type { RowChange, Transaction } from '../../core/platform.ts';
import { printPrincipal } from '../../core/viewer.ts';
import { loadNames, type ActivityActor } from './activity.ts';

/** A happening whose sentence still lacks the names of what it speaks of: keys as `namesOf` takes them, in the order of the sentence. */
interface EventDraft extends Omit<ActivityEvent, 'message'> {
  keys: string[];
  sentence(resource: string, names: string[]): string;
}

/**
 * What a unit of work did, as the people who follow its resources should hear it. It is read off what was written, so that no service has to say it, a
 * kind to come is heard of by its declaration, and a change that changes nothing is not.
 */
export async function collectActivityEvents(viewer: ActivityActor, tx: Transaction): Promise<ActivityEvent[]> {
  const changes = tx.changes();
  if (changes.length === 0) return [];
  // What comes or goes with its resource goes without saying.
  const whole = new Set(changes.filter(({ type }) => type !== 'update').map(({ row }) => (row as OwnedRow).id));
  const drafts: EventDraft[] = [];
  for (const change of changes) drafts.push(...(await draftEvents(viewer, tx, change, whole)));
  const nameOf = await loadNames(tx, viewer.tenantId, [...new Set(drafts.flatMap(({ keys }) => keys))]);
  return drafts.map(({ keys, sentence, ...happening }) => ({
    ...happening,
    message: `${viewer.username} ${sentence(happening.resource.name, keys.map(nameOf))}`,
  }));
}

async function draftEvents(
  viewer: ActivityActor,
  tx: Transaction,
  change: RowChange,
  whole: ReadonlySet<string>,
): Promise<EventDraft[]> {
  const { row } = change;
  if (row instanceof Team) return draftTeamEvents(change, row);
  if (row instanceof TeamMember)
    return whole.has(row.teamId)
      ? []
      : draftMemberEvents(viewer, change, row, await tx.em.findOne(Team, { id: row.teamId }));
  if (row instanceof DatasetReference)
    return whole.has(row.reportId)
      ? []
      : draftReferenceEvents(change, row, await tx.em.findOne(Report, { id: row.reportId }));
  const kind = OWNED_KINDS.find(({ entity }) => row.constructor === entity);
  if (kind) return draftResourceEvents(kind, change, row as OwnedRow);
  if (!(row instanceof Share || row instanceof TagAssignment) || whole.has(row.resourceId)) return [];
  const owner = OWNED_KINDS.find((one) => one.kind === row.kind);
  const resource = owner && (await tx.em.findOne<OwnedRow>(owner.entity, { id: row.resourceId }));
  if (!resource) return [];
  return [row instanceof Share ? draftShareEvent(change, row, resource) : draftTagEvent(change, row, resource)];
}

/** Of every row; they say nothing of what people do. */
const BOOKKEEPING = ['id', 'tenantId', 'version', 'createdAt', 'updatedAt'];

function draftResourceEvents(
  { kind, events = {}, silent = [] }: OwnedKind<OwnedRow>,
  { type, fields, before }: RowChange,
  row: OwnedRow,
): EventDraft[] {
  const draft = (
    event: ActivityEventName,
    data: Record<string, unknown>,
    sentence: EventDraft['sentence'],
    keys: string[] = [],
  ): EventDraft => ({ kind, resource: row, event, data, sentence, keys });
  if (type !== 'update') return [draft(`${type}d`, {}, (name) => `${type}d ${name}`)];

  const drafts: EventDraft[] = [];
  const rest = new Map<ActivityEventName, string[]>();
  for (const field of fields.filter((one) => !BOOKKEEPING.includes(one) && !silent.includes(one))) {
    if (field === 'ownerId')
      drafts.push(
        draft(
          'owner.changed',
          { from: printPrincipal(String(before['ownerId'])), to: printPrincipal(row.ownerId) },
          (name, [owner]) => `gave ${name} to ${owner}`,
          [row.ownerId],
        ),
      );
    else if (field === 'folderId')
      drafts.push(
        row.folderId
          ? draft(
              'folder.moved',
              { folderId: row.folderId },
              (name, [folder]) => `moved ${name} to the folder ${folder}`,
              [`folder:${row.folderId}`],
            )
          : draft('folder.moved', { folderId: null }, (name) => `took ${name} out of its folder`),
      );
    else rest.set(events[field] ?? 'updated', [...(rest.get(events[field] ?? 'updated') ?? []), field]);
  }
  for (const [event, changed] of rest)
    drafts.push(
      draft(event, { fields: changed }, (name) =>
        event === 'updated'
          ? `changed ${joinWords(changed)} of ${name}`
          : `changed the ${event.replace('.changed', '')} of ${name}`,
      ),
    );
  return drafts;
}

const SHARE_LEVEL_NAMES: Record<number, string> = {
  [LEVEL.view]: 'View',
  [LEVEL.edit]: 'Edit',
  [LEVEL.admin]: 'Admin',
};

function draftShareEvent(
  { type }: RowChange,
  { kind, principal, accessLevel, datasetFilterId, restrictFields }: Share,
  resource: OwnedRow,
): EventDraft {
  const keys = [principal];
  if (type === 'delete')
    return {
      kind,
      resource,
      event: 'unshared',
      keys,
      data: { principalId: printPrincipal(principal) },
      sentence: (name, [whom]) => `stopped sharing ${name} with ${whom}`,
    };
  const part = datasetFilterId || restrictFields ? 'a part of ' : '';
  return {
    kind,
    resource,
    event: 'shared',
    keys,
    data: { principalId: printPrincipal(principal), accessLevel },
    sentence: (name, [whom]) => `shared ${part}${name} with ${whom} (${SHARE_LEVEL_NAMES[accessLevel]})`,
  };
}

const REFERENCE_SENTENCES = {
  create: (alias: string, name: string) => `attached the dataset ${alias} to ${name}`,
  update: (alias: string, name: string) => `changed the dataset ${alias} of ${name}`,
  delete: (alias: string, name: string) => `took the dataset ${alias} out of ${name}`,
};

function draftReferenceEvents({ type }: RowChange, { alias }: DatasetReference, report: Report | null): EventDraft[] {
  return report
    ? [
        {
          kind: 'report',
          resource: report,
          event: 'updated',
          keys: [],
          data: { fields: ['datasetReferences'], alias },
          sentence: (name) => REFERENCE_SENTENCES[type](alias, name),
        },
      ]
    : [];
}

const draftTagEvent = ({ type }: RowChange, { kind, tagId }: TagAssignment, resource: OwnedRow): EventDraft => ({
  kind,
  resource,
  data: { tagId },
  keys: [`tag:${tagId}`],
  ...(type === 'delete'
    ? { event: 'untagged', sentence: (name, [tag]) => `took the tag ${tag} off ${name}` }
    : { event: 'tagged', sentence: (name, [tag]) => `tagged ${name} with ${tag}` }),
});

const teamResource = ({ id, name }: Team) => ({ id, name, ownerId: `team:${id}` });

function draftTeamEvents({ type, fields }: RowChange, team: Team): EventDraft[] {
  const common = { kind: 'team', resource: teamResource(team), keys: [] } as const;
  if (type !== 'update')
    return [{ ...common, keys: [], event: `${type}d`, data: {}, sentence: (name) => `${type}d ${name}` }];
  const changed = fields.filter((one) => !BOOKKEEPING.includes(one));
  return changed.length > 0
    ? [
        {
          ...common,
          keys: [],
          event: 'updated',
          data: { fields: changed },
          sentence: (name) => `changed ${joinWords(changed)} of ${name}`,
        },
      ]
    : [];
}

function draftMemberEvents(
  viewer: ActivityActor,
  { type }: RowChange,
  { userId, role }: TeamMember,
  team: Team | null,
): EventDraft[] {
  if (!team) return [];
  const common = { kind: 'team' as const, resource: teamResource(team), keys: [`user:${userId}`] };
  if (type === 'delete')
    return [
      {
        ...common,
        event: 'member.removed',
        data: { userId },
        sentence: (name, [who]) => (userId === viewer.userId ? `left ${name}` : `took ${who} out of ${name}`),
      },
    ];
  if (type === 'create')
    return [
      {
        ...common,
        event: 'member.added',
        data: { userId, role },
        sentence: (name, [who]) => `added ${who} to ${name} as ${role}`,
      },
    ];
  return [
    {
      ...common,
      event: 'member.role.changed',
      data: { userId, role },
      sentence: (name, [who]) => `made ${who} ${role} of ${name}`,
    },
  ];
}

/** `name`, `name and slug`, `name, slug and query`. */
const joinWords = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' and ');

import type { ActivityEventName } from '../src/core/activity.ts';
import { LEVEL, type ResourceKind, type ShareLevel } from '../src/core/permissions.ts';
import type { RowClass } from '../src/core/platform.ts';
import { App } from './app.ts';
import { Assistant } from './assistant.ts';
import { Dataset } from './dataset.ts';
import { Datasource } from './datasource.ts';
import { Job } from './job.ts';
import { Library } from './library.ts';
import type { OwnedRow } from './owned-row.ts';
import { Report } from './report.ts';
import { SavedQuery } from './saved-query.ts';
import { Template } from './template.ts';
import { Toolkit } from './toolkit.ts';

/** Declares a kind of resource that users and teams own. All features that such kinds share read this declaration. */
export interface OwnedKind<T extends OwnedRow> {
  entity: RowClass<T>;
  /** Prefix of the kind's permissions, e.g. `query` for `query:read`. */
  kind: ResourceKind;
  /** Noun in error messages. */
  what: string;
  /** Name of the table in the schema `dws`. */
  table: string;
  /** Name of the glyph of Lucide that menus show. */
  icon: string;
  /** Activity event by changed field. Default `updated`. */
  events?: Readonly<Record<string, ActivityEventName>>;
  /** Fields derived from other fields. Their changes are not part of the activity. */
  silent?: readonly string[];
  /** Whether rows may have a `parent` of the same kind, which determines who may read them. */
  hasParents?: boolean;
  /**
   * Whether rows with a parent are its drafts: they have the owner, shares, tags, folder and favourites of their parent, which
   * cannot be changed in them.
   */
  hasDrafts?: boolean;
  /** Levels that its shares may have. Default: `SHARE_LEVELS`. */
  shareLevels?: readonly ShareLevel[];
  /** The ability that allows sharing. Default: `share`. */
  shareAbility?: 'share' | 'write';
  /** Ability that a change of the owner requires. Default: `changeOwner`. */
  ownerAbility?: 'changeOwner' | 'edit';
}

export const DATASOURCE: OwnedKind<Datasource> = {
  entity: Datasource,
  kind: 'datasource',
  what: 'datasource',
  table: 'datasource',
  icon: 'database',
  events: { config: 'connection.changed', secrets: 'connection.changed' },
  silent: ['problems'],
};
export const SAVED_QUERY: OwnedKind<SavedQuery> = {
  entity: SavedQuery,
  kind: 'query',
  what: 'query',
  table: 'saved_query',
  icon: 'file-code',
  silent: ['fields'],
};
export const DATASET: OwnedKind<Dataset> = {
  entity: Dataset,
  kind: 'dataset',
  what: 'dataset',
  table: 'dataset',
  icon: 'table',
  hasParents: true,
};
export const REPORT: OwnedKind<Report> = {
  entity: Report,
  kind: 'report',
  what: 'report',
  table: 'report',
  icon: 'file-text',
};
export const APP: OwnedKind<App> = {
  entity: App,
  kind: 'app',
  what: 'app',
  table: 'app',
  icon: 'app-window',
  silent: ['envNames', 'accepted'],
};
export const JOB: OwnedKind<Job> = {
  entity: Job,
  kind: 'job',
  what: 'job',
  table: 'job',
  icon: 'calendar-clock',
  ownerAbility: 'edit',
  silent: ['accepted', 'nextRunAt', 'scheduledAt', 'lockedAt', 'heartbeat'],
  hasParents: true,
  hasDrafts: true,
};

export const TEMPLATE: OwnedKind<Template> = {
  entity: Template,
  kind: 'template',
  what: 'template',
  table: 'template',
  icon: 'layout-template',
  silent: ['draftBase'],
  hasParents: true,
  hasDrafts: true,
};
export const LIBRARY: OwnedKind<Library> = {
  entity: Library,
  kind: 'library',
  what: 'library',
  table: 'library',
  icon: 'library',
  silent: ['fileCount', 'bytes', 'lastSyncAt', 'lastSync'],
  shareLevels: [LEVEL.none, LEVEL.view],
  shareAbility: 'write',
};
export const TOOLKIT: OwnedKind<Toolkit> = {
  entity: Toolkit,
  kind: 'toolkit',
  what: 'toolkit',
  table: 'toolkit',
  icon: 'wrench',
  events: { config: 'config.changed', sealedSecrets: 'config.changed' },
  silent: ['serverInfo', 'discoveredAt'],
};

export const ASSISTANT: OwnedKind<Assistant> = {
  entity: Assistant,
  kind: 'assistant',
  what: 'assistant',
  table: 'assistant',
  icon: 'bot',
  events: { uploadedIconId: 'icon.changed' },
  silent: ['faviconId'],
};

/** Every kind with owners. */
export const OWNED_KINDS: readonly OwnedKind<OwnedRow>[] = [
  DATASOURCE,
  SAVED_QUERY,
  DATASET,
  REPORT,
  APP,
  JOB,
  TEMPLATE,
  LIBRARY,
  TOOLKIT,
  ASSISTANT,
];

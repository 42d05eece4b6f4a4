import { AppFile } from '../../../entities/app-file.ts';
import { AppGrant } from '../../../entities/app-grant.ts';
import { AppLog } from '../../../entities/app-log.ts';
import { AppRelease } from '../../../entities/app-release.ts';
import { App } from '../../../entities/app.ts';
import { User } from '../../../entities/user.ts';
import { WebhookCall } from '../../../entities/webhook-call.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { type FieldValues, equalsCondition } from '../../core/read/list-arguments.ts';
import type { ListFilter } from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { readableThrough, writable } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany, modelFor } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

/** SQL of a column of the stored file with the contents. */
const storedColumn = (column: string): string =>
  `(select f.${column} from dws.stored_file f where f.tenant_id = p.tenant_id and f.id = p.file_id)`;

export const appModel = defineOwnedModel(App, {
  sortable: ['name', 'slug', 'status', 'deployedAt', 'createdAt', 'updatedAt'],
  relations: {
    files: hasMany(AppFile, 'app_id', 'path'),
    releases: hasMany(AppRelease, 'app_id', '-number'),
    logs: hasMany(AppLog, 'app_id', '-at'),
    webhookCalls: hasMany(WebhookCall, 'app_id', '-at'),
  },
});

/** Code is for users who may write the app. */
export const appFileModel = defineModel(AppFile, {
  label: 'file of an app',
  nodeAccess: readableThrough('app', 'app_id', writable),
  searchedFields: ['path'],
  defaultSort: 'path',
  relations: { app: belongsTo(App, 'app_id') },
  computed: {
    size: { sql: storedColumn('size'), type: 'bigint' },
    sha256: { sql: storedColumn('sha256'), type: 'text' },
  },
});

export const appReleaseModel = defineModel(AppRelease, {
  label: 'release of an app',
  nodeAccess: readableThrough('app', 'app_id', writable),
  defaultSort: '-number',
  relations: { app: belongsTo(App, 'app_id'), user: belongsTo(User, 'deployed_by') },
});

/** Returns the filters that compare fields for equality. */
const equal = (entity: EntityType, fields: readonly string[]): Record<string, ListFilter> =>
  Object.fromEntries(
    fields.map((field) => [field, (value) => equalsCondition(modelFor(entity), field, value as FieldValues[string])]),
  );

/** Records show data of callers, so they are for users who may write the app. */
export const appLogModel = defineModel(AppLog, {
  label: 'line in the log of an app',
  nodeAccess: readableThrough('app', 'app_id', writable),
  defaultSort: '-at',
  relations: { app: belongsTo(App, 'app_id') },
  filters: equal(AppLog, ['level', 'requestId']),
});

export const webhookCallModel = defineModel(WebhookCall, {
  label: 'call of a webhook',
  nodeAccess: readableThrough('app', 'app_id', writable),
  defaultSort: '-at',
  relations: { app: belongsTo(App, 'app_id'), replayOf: belongsTo(WebhookCall, 'replay_of_id') },
  computed: { replayable: { sql: '(p.request is not null)', type: 'boolean' } },
  filters: equal(WebhookCall, ['method', 'route', 'status']),
});

/** A user's grants are visible to that user only, not even to superusers. */
const ownGrants: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

export const appGrantModel = defineModel(AppGrant, {
  label: 'grant to the app',
  accessFilter: ownGrants,
  searchedFields: [],
  defaultSort: '-createdAt',
  relations: { app: belongsTo(App, 'app_id') },
  computed: {
    appName: {
      sql: '(select a.name from dws.app a where a.tenant_id = p.tenant_id and a.id = p.app_id)',
      type: 'text',
    },
  },
});

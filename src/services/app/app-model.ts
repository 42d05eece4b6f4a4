import { AppFile } from '../../../entities/app-file.ts';
import { AppLog } from '../../../entities/app-log.ts';
import { AppRelease } from '../../../entities/app-release.ts';
import { App } from '../../../entities/app.ts';
import { User } from '../../../entities/user.ts';
import { WebhookCall } from '../../../entities/webhook-call.ts';
import { readableThrough, writable } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';
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

/** Code is for those who may write the app. */
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

import { AppLog } from '../../../entities/app-log.ts';
import { App } from '../../../entities/app.ts';
import { WebhookCall } from '../../../entities/webhook-call.ts';
import { equalsCondition, type FieldValues } from '../../core/read/list-arguments.ts';
import type { ListFilter } from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { readableThrough, writable } from '../resource/access-filter.ts';
import { belongsTo, defineModel, modelFor } from '../resource/define-model.ts';

/** Returns the filters that compare fields for equality. */
const equal = (entity: EntityType, fields: readonly string[]): Record<string, ListFilter> =>
  Object.fromEntries(
    fields.map((field) => [field, (value) => equalsCondition(modelFor(entity), field, value as FieldValues[string])]),
  );

/** Records show what callers sent, so that they are for those who may write the app. */
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

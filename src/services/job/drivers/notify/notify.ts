import { limitNotifications } from '../../../resource/hourly-limits.ts';
import { notify } from '../../../resource/notification.ts';
import { resolveRecipients } from '../../../resource/recipients.ts';
import { defineAction, RECIPIENTS } from '../action-schema.ts';
import { namesOf } from '../recipients.ts';

const MAX_MESSAGE_CHARACTERS = 1000;

/** `data` of an action that notifies. */
interface NotifyData {
  recipients: string[];
  message: string;
}

export const notifyAction = defineAction<NotifyData>({
  id: 'notify',
  name: 'Notify',
  description: 'Sends a notification.',
  properties: {
    recipients: {
      ...RECIPIENTS,
      description:
        '`user:<id>`, `team:<id>` (its admins and members who may write), user ids or usernames; at most 100.',
    },
    message: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_CHARACTERS, description: 'Message.' },
  },
  required: { recipients: true, message: true },
  prepare: async (data, action) => ({
    ...data,
    recipients: await resolveRecipients(action.tx, action.ctx.viewer.tenantId, data.recipients, {
      path: 'data.recipients',
      addresses: false,
    }),
  }),
  async run({ ctx, job, data, log }) {
    const { recipients, message } = data;
    const { tenantId, userId: ownerId } = ctx.viewer;
    await ctx.transaction((tx) =>
      limitNotifications(tx, { kind: 'job', id: job.id, tenantId, ownerId }, () =>
        notify(tx, tenantId, recipients, {
          type: 'job.notification',
          message,
          senderId: ownerId,
          resource: { kind: 'job', id: job.id },
        }),
      ),
    );
    log('Notified');
  },
  async preview({ ctx, data }) {
    const { recipients, message } = data;
    return { message, recipients: await namesOf(ctx, recipients) };
  },
});

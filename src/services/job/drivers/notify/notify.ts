import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { actionSchema, RECIPIENTS } from '../action-schema.ts';
import { resolveRecipients } from '../recipients.ts';

const MAX_MESSAGE_CHARACTERS = 1000;

export const notifyAction: JobActionDriver = {
  id: 'notify',
  name: 'Notify',
  description: 'Sends a notification.',
  schema: actionSchema(
    {
      recipients: { ...RECIPIENTS, description: '`user:<id>`, `team:<id>`, user ids or usernames; at most 100.' },
      message: { type: 'string', minLength: 1, maxLength: MAX_MESSAGE_CHARACTERS, description: 'Message.' },
    },
    ['recipients', 'message'],
  ),
  prepare: async (data, action) => ({
    ...data,
    recipients: await resolveRecipients(data['recipients'] as string[], action, { addresses: false }),
  }),
};

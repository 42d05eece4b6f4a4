import { JobAction } from '../../../../../entities/job-action.ts';
import { notFound } from '../../../../core/errors.ts';
import { isUuid } from '../../../../core/id.ts';
import { invalid } from '../../../../core/input-checks.ts';
import type { JobActionDriver, SavedAction } from '../../../../core/job-drivers.ts';
import { actionSchema, RECIPIENTS } from '../action-schema.ts';
import { resolveRecipients } from '../recipients.ts';

const MAX_SUBJECT_CHARACTERS = 500;
const MAX_BODY_CHARACTERS = 200_000;
const MAX_ATTACHMENTS = 20;

/** `data` of an email action. */
interface EmailData extends Record<string, unknown> {
  recipients: string[];
  attach?: string[];
  runAs?: 'owner' | 'recipient';
}

export const emailAction: JobActionDriver = {
  id: 'email',
  name: 'Email',
  description: 'Sends a mail, with the files of other actions attached.',
  schema: actionSchema(
    {
      recipients: {
        ...RECIPIENTS,
        description: 'E-mail addresses, `user:<id>`, `team:<id>`, user ids or usernames; at most 100.',
      },
      subject: { type: 'string', minLength: 1, maxLength: MAX_SUBJECT_CHARACTERS, description: 'Subject line.' },
      body: { type: 'string', maxLength: MAX_BODY_CHARACTERS, description: 'Text of the mail.' },
      format: { enum: ['text', 'html'], description: 'Format of the body. Default: text.' },
      attach: {
        type: 'array',
        maxItems: MAX_ATTACHMENTS,
        items: { type: 'string' },
        description: 'Ids of actions of the job whose files are attached.',
      },
      runAs: {
        enum: ['owner', 'recipient'],
        description:
          'Whose rows exported files contain: those of the owner of the job (default), or for each recipient their own.',
      },
    },
    ['recipients', 'subject', 'body'],
  ),
  async prepare(data, action) {
    const { recipients, runAs, attach } = data as EmailData;
    return {
      ...data,
      recipients: await resolveRecipients(recipients, action, { addresses: runAs !== 'recipient' }),
      ...(attach && { attach: await resolveAttached(attach, action) }),
    };
  },
};

/** Returns the ids of attached actions in lower case. Throws NOT_FOUND for one that is not of the job. */
async function resolveAttached(ids: readonly string[], { tx, jobId, actionId }: SavedAction): Promise<string[]> {
  const own = ids.findIndex((id) => id.toLowerCase() === actionId);
  if (own >= 0) throw invalid(`data.attach.${own}`, 'must be another action');
  const actions = new Set((await tx.find(JobAction, { jobId })).map(({ id }) => id));
  const unknown = ids.find((id) => !isUuid(id) || !actions.has(id.toLowerCase()));
  if (unknown !== undefined) throw notFound({ what: 'job action', id: unknown });
  return ids.map((id) => id.toLowerCase());
}

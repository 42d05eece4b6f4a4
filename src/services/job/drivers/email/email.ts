import { resolveRecipients } from '../../../resource/recipients.ts';
import { defineAction, RECIPIENTS } from '../action-schema.ts';
import { namesOf } from '../recipients.ts';
import { checkAttached, previewAttached } from './attached-actions.ts';
import type { EmailData } from './email-data.ts';
import { sendMails } from './send-mails.ts';

const MAX_SUBJECT_CHARACTERS = 500;
const MAX_BODY_CHARACTERS = 200_000;
const MAX_ATTACHMENTS = 20;

export const emailAction = defineAction<EmailData>({
  id: 'email',
  name: 'Email',
  description: 'Sends a mail, with the files of other actions attached.',
  properties: {
    recipients: {
      ...RECIPIENTS,
      description:
        'E-mail addresses, `user:<id>`, `team:<id>` (its members), user ids or usernames; at most 100. Each user gets ' +
        'one mail. Disabled users and users without an e-mail address get none.',
    },
    subject: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_SUBJECT_CHARACTERS,
      pattern: String.raw`^[^\u0000-\u001f\u007f]*$`,
      description: 'Subject line.',
    },
    body: { type: 'string', maxLength: MAX_BODY_CHARACTERS, description: 'Text of the mail.' },
    format: { enum: ['text', 'html'], description: 'Format of the body. Default: text.' },
    attach: {
      type: 'array',
      maxItems: MAX_ATTACHMENTS,
      items: { type: 'string' },
      description: 'Ids of actions of the job whose files are attached, at most 20 MB in total.',
    },
    runAs: {
      enum: ['owner', 'recipient'],
      description:
        "Whose rows exported files contain: the rows of the owner of the job (default), or each recipient's own. " +
        'With `recipient` only the files of exports can be attached, and recipients are users and teams only.',
    },
  },
  required: { recipients: true, subject: true, body: true },
  async prepare(data, action) {
    const { recipients, runAs, attach } = data;
    const resolved = await resolveRecipients(action.tx, action.ctx.viewer.tenantId, recipients, {
      path: 'data.recipients',
      addresses: runAs !== 'recipient',
    });
    const prepared = { ...data, recipients: [...new Set(resolved)] };
    return attach ? { ...prepared, attach: await checkAttached({ ...prepared, attach }, action) } : prepared;
  },
  run: sendMails,
  async preview(preview) {
    const { subject, body, recipients } = preview.data;
    return {
      emailSubject: subject,
      emailBody: body,
      recipients: await namesOf(preview.ctx, recipients),
      attachments: await previewAttached(preview),
    };
  },
});

import type { HandlerTask } from '../../core/app-run.ts';
import { badInput } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { optionalTextRule, textRule, type InputRule } from '../../core/input-rules.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkMailLimits } from '../resource/hourly-limits.ts';
import { htmlToText } from '../resource/html-text.ts';
import { findMailRecipients, lockMailUsers } from '../resource/mail-recipients.ts';
import { queueMails, type AddressedMail } from '../resource/mail.ts';
import { resolveRecipients } from '../resource/recipients.ts';
import { loadOwner } from './app-owner.ts';
import { readObject, readText, readTexts } from './handler-arguments.ts';

const MAX_RECIPIENTS = 20;
const RECIPIENT_RULE = textRule(320);
const SUBJECT_RULE: InputRule = {
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  patternMessage: 'must be one line without control characters',
};
const MAX_BODY_BYTES = 100_000;

/** Contents of a mail. */
interface Body {
  text: string;
  html: string | null;
}

/**
 * Queues the mails of an app for its owner, one for each recipient, all of them or none. Throws BAD_USER_INPUT for a mail
 * that is not valid or reaches no one, NOT_FOUND for an unknown user, FORBIDDEN if the owner cannot act, RATE_LIMITED for
 * too many mails.
 */
export async function sendMail({ app, ctx }: Pick<HandlerTask, 'app' | 'ctx'>, mail: unknown): Promise<void> {
  const { platform } = ctx;
  const { to, subject, ...body } = readObject(mail, 'mail');
  const names = readTexts(to, 'to', MAX_RECIPIENTS, RECIPIENT_RULE);
  const checkedSubject = readText(subject, 'subject', SUBJECT_RULE);
  const checkedBody = readBody(body);
  const owner = await loadOwner(platform, app);
  const footer = `Sent by the app "${app.name}" of ${owner.username}`;
  await ctx.transaction(async (tx) => {
    const sender = { kind: 'app', id: app.id, tenantId: app.tenantId, ownerId: owner.userId } as const;
    const mails = await addressMails(tx, sender, names);
    await checkMailLimits(tx, sender, mails);
    const content = {
      tenantId: app.tenantId,
      source: `app:${app.id}:${newId()}`,
      senderId: owner.userId,
      subject: checkedSubject,
      ...withFooter(checkedBody, footer),
    };
    await queueMails(platform, tx, content, mails);
  });
}

/** Returns the text of a mail, by default taken from its HTML. */
function readBody({ text, html }: Readonly<Record<string, unknown>>): Body {
  const isAbsent = (value: unknown) => value === undefined || value === null;
  if (isAbsent(text) && isAbsent(html)) throw invalid('text', 'is required, or html');
  const checkedHtml = isAbsent(html) ? null : readBounded(html, 'html');
  return { text: isAbsent(text) ? htmlToText(checkedHtml!) : readBounded(text, 'text'), html: checkedHtml };
}

function readBounded(value: unknown, path: string): string {
  const text = readText(value, path, optionalTextRule(MAX_BODY_BYTES));
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw invalid(path, `must have at most ${MAX_BODY_BYTES} bytes`);
  return text;
}

/** Returns one mail for each address and enabled user, and locks the users against deletion. */
async function addressMails(
  tx: Transaction,
  sender: { tenantId: string; ownerId: string },
  names: readonly string[],
): Promise<AddressedMail[]> {
  const { tenantId } = sender;
  const recipients = await resolveRecipients(tx, tenantId, names, { path: 'to', addresses: true });
  const { users, addresses } = await findMailRecipients(tx, sender, recipients);
  const locked = await lockMailUsers(tx, tenantId, users);
  if (locked.length + addresses.length === 0) throw badInput('No recipient of the mail is enabled and has an address');
  return [
    ...locked.map(({ id, email }) => ({ userId: id, to: email, attachments: [] })),
    ...addresses.map((address) => ({ userId: null, to: address, attachments: [] })),
  ];
}

/** Adds a line about who sent a mail: before the end of its HTML, where there is one. */
function withFooter({ text, html }: Body, footer: string): Body {
  const paragraph = `<hr><p>${footer.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`;
  const end = [...(html ?? '').matchAll(/<\/body\s*>/gi)].at(-1)?.index ?? -1;
  return {
    text: `${text}\n\n-- \n${footer}`,
    html: html && (end < 0 ? html + paragraph : html.slice(0, end) + paragraph + html.slice(end)),
  };
}

import type { HandlerTask, RunningApp } from '../../core/app-run.ts';
import { badInput } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { textRule } from '../../core/input-rules.ts';
import { LEVEL } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction, findGrantee } from '../resource/access-level.ts';
import { limitNotifications } from '../resource/hourly-limits.ts';
import { notify } from '../resource/notification.ts';
import { resolveRecipients } from '../resource/recipients.ts';
import { loadOwner } from './app-owner.ts';
import { readObject, readText, readTexts } from './handler-arguments.ts';

const MAX_PRINCIPALS = 100;
const PRINCIPAL_RULE = textRule(320);
const MESSAGE_RULE = textRule(1000);
const LINK_RULE = textRule(2000);

/**
 * Notifies readers of an app for its owner. Returns the number of notified users. Throws BAD_USER_INPUT naming the
 * principals that cannot read the app, NOT_FOUND for an unknown one, FORBIDDEN if the owner cannot act, RATE_LIMITED for
 * too many notifications.
 */
export async function notifyReaders(
  { app, ctx }: Pick<HandlerTask, 'app' | 'ctx'>,
  principals: unknown,
  notification: unknown,
): Promise<number> {
  const names = readTexts(principals, 'principals', MAX_PRINCIPALS, PRINCIPAL_RULE);
  const { message, link } = readObject(notification, 'notification');
  const content = {
    type: 'app.notification',
    message: readText(message, 'message', MESSAGE_RULE),
    link: link === undefined || link === null ? null : checkLink(link),
    resource: { kind: 'app', id: app.id },
  };
  const { userId: ownerId } = await loadOwner(ctx.platform, app);
  return ctx.transaction(async (tx) => {
    const found = await resolveRecipients(tx, app.tenantId, names, { path: 'principals', addresses: false });
    await checkReaders(tx, app, names, found);
    const sender = { kind: 'app', id: app.id, tenantId: app.tenantId, ownerId } as const;
    return limitNotifications(tx, sender, () => notify(tx, app.tenantId, found, { ...content, senderId: ownerId }));
  });
}

/**
 * Throws BAD_USER_INPUT naming the principals that cannot read an app. `names` are the names in the form that the
 * handler used.
 */
async function checkReaders(
  tx: Transaction,
  app: RunningApp,
  names: readonly string[],
  principals: readonly string[],
): Promise<void> {
  const readable = await Promise.all(
    principals.map(async (principal) => {
      const viewer = await findGrantee(tx, app.tenantId, principal);
      return viewer !== null && (await accessLevelInTransaction({ viewer }, tx, app)) >= LEVEL.view;
    }),
  );
  const others = names.filter((_, index) => !readable[index]);
  if (others.length > 0) throw badInput(`The app can notify its readers only, not ${others.join(', ')}`);
}

/** Returns a link to a path of a front-end or an https URL. */
function checkLink(value: unknown): string {
  const link = readText(value, 'link', LINK_RULE);
  const base = 'https://service.invalid';
  const url = URL.parse(link, base);
  const isPath = link.startsWith('/') && url?.origin === base;
  if (!isPath && !(/^https:\/\//i.test(link) && url && url.username === '' && url.password === ''))
    throw invalid('link', 'must be a path that starts with / or an https URL');
  return link;
}

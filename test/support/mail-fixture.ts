import { queueMail } from '../../src/services/resource/mail.ts';
import type { Client } from './client.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** A link that sets a password, as mails contain it. */
export const RESET_LINK = `http://127.0.0.1/password-reset/${'s'.repeat(43)}`;

export interface MailOptions {
  subject?: string;
  text?: string;
  /** By default `<username>@example.com`. */
  email?: string | null;
  expiresAt?: Date;
}

export async function tenantIdOf(service: Service, user: Pick<Client, 'id'>): Promise<string> {
  const [row] = await systemQuery<{ id: string }>(
    service,
    `select tenant_id as id from dws.app_user where id = $1`,
    user.id,
  );
  return row!.id;
}

/** Adds a mail to a user to the outbox, and gives the user its address. Returns its id. */
export async function createMail(
  service: Service,
  { id, username }: Client,
  { subject = 'News', text = 'Grüße', email = `${username}@example.com`, expiresAt }: MailOptions = {},
): Promise<string> {
  const { platform } = service;
  const tenantId = await tenantIdOf(service, { id });
  if (email !== null) await systemQuery(service, `update dws.app_user set email = $2 where id = $1`, id, email);
  return platform.database.transaction(tenantId, async (tx) =>
    queueMail(platform, tx, {
      tenantId,
      user: { id, username, email },
      subject,
      text,
      ...(expiresAt && { expiresAt }),
    }),
  );
}

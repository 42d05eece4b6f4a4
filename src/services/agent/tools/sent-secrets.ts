import type { Context } from '../../../core/context.ts';
import { openConfig } from '../../toolkit/toolkit-config.ts';
import type { CustomConfig, RemoteConfig } from '../../toolkit/toolkit-driver.ts';

/** Shorter texts are not masked: they would mask ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Decrypts the secrets of a toolkit that its tools send, which no result may contain. */
export function openSentSecrets(
  { platform }: Pick<Context, 'platform'>,
  toolkit: { type: string; config: Record<string, unknown>; sealedSecrets: string | null },
): string[] {
  const config = openConfig(platform, toolkit.type, toolkit);
  const headers = headersOf(toolkit.type, config).flatMap((values) => Object.values(values));
  // A server may repeat the token of `Bearer <token>` alone.
  return headers
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= MIN_SECRET_CHARACTERS && !/^(?:bearer|basic|token)$/i.test(value))
    .filter((value) => !value.includes('{{'));
}

function headersOf(type: string, config: Record<string, unknown>): Record<string, string>[] {
  if (type === 'mcp-remote') return [(config as RemoteConfig).headers];
  if (type !== 'custom') return [];
  return (config as CustomConfig).tools.flatMap(({ request }) => (request ? [request.headers] : []));
}

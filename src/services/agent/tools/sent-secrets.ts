import type { Context } from '../../../core/context.ts';
import { openConfig } from '../../toolkit/toolkit-config.ts';
import type { CustomConfig, RemoteConfig, ToolRequest } from '../../toolkit/toolkit-driver.ts';

/** Shorter texts are not masked: they would mask ordinary words. */
const MIN_SECRET_CHARACTERS = 4;
/** The same for values in the query of a URL, which are often words. */
const MIN_QUERY_SECRET_CHARACTERS = 12;
const PLACEHOLDER = /\{\{[^{}]*\}\}/;

/** Decrypts the secrets of a toolkit that its tools send, which no result may contain. */
export function openSentSecrets(
  { platform }: Pick<Context, 'platform'>,
  toolkit: { name: string; type: string; config: Record<string, unknown>; sealedSecrets: string | null },
): string[] {
  const requests = requestsOf(toolkit.type, openConfig(platform, toolkit.type, toolkit));
  return requests.flatMap(({ url, headers }) => [
    ...Object.values(headers).flatMap(secretsOfHeader),
    ...secretsOfQuery(url),
  ]);
}

/** Returns the parts of a value that a server may repeat: the token of `Bearer <token>` alone, and with any argument. */
const secretsOfHeader = (header: string): string[] =>
  header
    .split(PLACEHOLDER)
    .flatMap((part) => [part, ...part.split(/\s+/)])
    .filter((part) => part.length >= MIN_SECRET_CHARACTERS && !/^\s*(?:bearer|basic|token)\s*$/i.test(part));

/** Returns the values in the query of a URL, which are also hidden from callers who may not write the toolkit. */
const secretsOfQuery = (url: string): string[] =>
  [...(URL.parse(url)?.searchParams.values() ?? [])].filter(
    (value) => value.length >= MIN_QUERY_SECRET_CHARACTERS && !PLACEHOLDER.test(value),
  );

function requestsOf(type: string, config: Record<string, unknown>): Pick<ToolRequest, 'url' | 'headers'>[] {
  if (type === 'mcp-remote') return [config as RemoteConfig];
  if (type !== 'custom') return [];
  return (config as CustomConfig).tools.flatMap(({ request }) => request ?? []);
}

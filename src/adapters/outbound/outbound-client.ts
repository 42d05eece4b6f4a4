import type { OutboundClient } from '../../core/outbound.ts';
import type { GuardedFetchOptions } from './guarded-fetch.ts';

/** Opens the guarded client for calls to hosts that users name. Its modules are loaded with the first call. */
export function openOutboundClient(options: GuardedFetchOptions): OutboundClient {
  let client: Promise<OutboundClient> | undefined;
  const load = () => (client ??= import('./guarded-fetch.ts').then((module) => module.createGuardedFetch(options)));
  return {
    fetch: async (url, request) => (await load()).fetch(url, request),
    checkUrl: async (url) => (await load()).checkUrl(url),
    close: async () => (await client)?.close(),
  };
}

import { newId } from '../../core/id.ts';
import type { Platform } from '../../core/platform.ts';

/** Maximum depth of a chain. An event of a run at this depth starts no run. */
export const MAX_CHAIN_DEPTH = 3;

/** Header with the depth of the run that sends a request to an app of this service. */
export const CHAIN_HEADER = 'dws-agent-chain';

/**
 * Returns the headers by which an app of this service knows that a run calls it, so that its events continue the chain.
 * Other hosts get none. Only this service can create them, and a header that is sent again counts again.
 */
export function chainHeaders(
  { publicUrl, secrets }: Pick<Platform, 'publicUrl' | 'secrets'>,
  url: string,
  depth: number,
): Record<string, string> {
  if (URL.parse(url)?.origin !== URL.parse(publicUrl)?.origin) return {};
  const value = `${depth}.${newId()}`;
  return { [CHAIN_HEADER]: `${value}.${digestOf(secrets, value)}` };
}

/** Returns the depth that such a header states; 0 for a request without one, or with one of another origin. */
export function readChain({ secrets }: Pick<Platform, 'secrets'>, header: string | undefined): number {
  const [, value, depth, digest] = /^((\d)\.[\da-f-]{36})\.([\w-]+)$/.exec(header ?? '') ?? [];
  return value !== undefined && digest === digestOf(secrets, value) ? Number(depth) : 0;
}

const digestOf = (secrets: Platform['secrets'], value: string): string => secrets.digest(`agent-chain:${value}`);

import type { AppRequest } from '../../core/app-run.ts';
import type { SecretBox } from '../../core/platform.ts';

/** Maximum size of the body of a call that is kept, in bytes. */
const MAX_BODY_BYTES = 262_144;

/** A request as it is encrypted: the body in Base64. */
type StoredRequest = Omit<AppRequest, 'body'> & { body: string };

/** Returns the encrypted request of a call for a later replay; null if its body is too large to be kept. */
export function sealRequest(secrets: SecretBox, { body, ...request }: AppRequest): string | null {
  if (body.byteLength > MAX_BODY_BYTES) return null;
  const stored: StoredRequest = { ...request, body: Buffer.from(body).toString('base64') };
  return secrets.seal(JSON.stringify(stored));
}

/** Returns the request that `sealRequest` encrypted. */
export function openRequest(secrets: SecretBox, sealed: string): AppRequest {
  const { body, ...request } = JSON.parse(secrets.open(sealed, 'the request of the call')) as StoredRequest;
  return { ...request, body: Buffer.from(body, 'base64') };
}

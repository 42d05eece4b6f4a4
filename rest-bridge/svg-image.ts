import type { AdapterCall } from './call.ts';

/** Allows inline styles only. A text inside the picture can neither load nor run anything. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'`;

/** Sends a field that contains SVG text as an image. */
export async function svgImage({ run, reply }: AdapterCall): Promise<string> {
  const { body } = await run();
  void reply
    .header('content-type', 'image/svg+xml; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('cross-origin-resource-policy', 'same-site')
    .header('x-content-type-options', 'nosniff');
  return body as string;
}

import type { AdapterCall } from './call.ts';

/** A picture may colour itself and nothing more: whatever a text in it says, it loads and runs nothing. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'`;

/** Answers a field that holds SVG text as a picture. */
export async function svgImage({ run, reply }: AdapterCall): Promise<string> {
  const { body } = await run();
  void reply
    .header('content-type', 'image/svg+xml; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('x-content-type-options', 'nosniff');
  return body as string;
}

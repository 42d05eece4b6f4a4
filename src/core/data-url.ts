import { yieldOnce, type IncomingFile } from './files.ts';

const DATA_URL = /^data:([^,;]*)((?:;[^,]*)?),/i;
const BASE64 = /^[A-Za-z0-9+/_\s-]*(?:={1,2}\s*)?$/;

/** Returns the file in a `data:` URL or base64 text; undefined for any other text. */
export function fileFromText(text: string): IncomingFile | undefined {
  const url = DATA_URL.exec(text);
  const body = url ? text.slice(url[0].length) : text;
  const bytes =
    url && !/;\s*base64\s*$/i.test(url[2]!)
      ? decodePercents(body)
      : BASE64.test(body)
        ? Buffer.from(body, 'base64')
        : undefined;
  return (
    bytes && {
      filename: null,
      contentType: url?.[1] || 'application/octet-stream',
      minSize: bytes.length,
      content: yieldOnce(bytes),
    }
  );
}

function decodePercents(text: string): Buffer | undefined {
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    return undefined;
  }
}

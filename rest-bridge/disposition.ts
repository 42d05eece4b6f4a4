/**
 * Returns the header `Content-Disposition` for a file, without its folders. A name that is not plain ASCII is added in its
 * encoded form (RFC 6266).
 */
export function dispositionOf(type: 'inline' | 'attachment', path: string): string {
  const filename = path.split('/').at(-1)!;
  const plain = filename.replace(/[^ !#-[\]-~]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `${type}; filename="${plain}"${plain === filename ? '' : `; filename*=UTF-8''${encoded}`}`;
}

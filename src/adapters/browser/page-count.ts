/**
 * Returns the number of pages of a PDF that Chromium wrote; null if it has another form. Follows the references from the end
 * of the file as readers do, because a text of the document may look like a part of the file.
 */
export function countPages(pdf: Buffer): number | null {
  const tail = pdf.toString('latin1', Math.max(0, pdf.length - 1024));
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail)?.[1];
  const root = /\/Root (\d+) 0 R/.exec(tail.slice(tail.lastIndexOf('trailer')))?.[1];
  if (start === undefined || root === undefined) return null;
  const table = Number(start);
  const pages = /^\d+ 0 obj\s*<<[^]*?\/Pages (\d+) 0 R/.exec(objectAt(pdf, table, Number(root)))?.[1];
  if (pages === undefined) return null;
  const count = /\/Count (\d+)/.exec(objectAt(pdf, table, Number(pages)))?.[1];
  return count === undefined ? null : Number(count);
}

/** Returns the beginning of an object, up to its end: the root and the tree of pages are short. */
function objectAt(pdf: Buffer, table: number, id: number): string {
  const header = /^xref\s+0 \d+\s*?\r?\n/.exec(pdf.toString('latin1', table, table + 40))?.[0];
  if (header === undefined) return '';
  const entry = table + header.length + id * 20;
  const offset = Number(pdf.toString('latin1', entry, entry + 10));
  const text = pdf.toString('latin1', offset, offset + 4096);
  return text.startsWith(`${id} 0 obj`) ? text.slice(0, text.indexOf('endobj')) : '';
}

/** A library that turns Markdown into HTML. */
export interface MarkdownLibrary {
  new (options: { html: boolean }): { render(text: string): string };
  (options: { html: boolean }): { render(text: string): string };
}

/**
 * Formats a value, or a list of values as a line, as the export of datasets does: quotation marks where they are needed; formulas
 * are not changed.
 */
export const formatCsv = (value: unknown): string =>
  Array.isArray(value) ? value.map(csvValue).join(',') : csvValue(value);

function csvValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' && isPlain(value) ? JSON.stringify(value) : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns whether a value is a list or object of JSON. A text that needs no escaping is an object, too. */
const isPlain = (value: object): boolean => Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;

/** Creates the function that turns Markdown into HTML. HTML in it is escaped; the library refuses links that run scripts. */
export function createMarkdown(Library: MarkdownLibrary | null): (text: unknown) => string {
  let renderer: { render(text: string): string } | undefined;
  return (text) => {
    if (!Library) throw new Error('The library for Markdown is not loaded');
    renderer ??= new Library({ html: false });
    return renderer.render(String(text ?? ''));
  };
}

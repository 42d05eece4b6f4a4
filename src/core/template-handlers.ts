/**
 * The output handlers of each template engine. Both are named by ids that templates store, so that they are known without
 * the engines, which are loaded when the first template is rendered.
 */
export const TEMPLATE_HANDLERS: Readonly<Record<string, readonly string[]>> = {
  nunjucks: ['html', 'pdf', 'text', 'csv'],
  docx: ['docx'],
};
/** Engine and handler of a new template that names none. */
export const DEFAULT_TEMPLATE_TYPE = 'nunjucks';
export const DEFAULT_TEMPLATE_HANDLER = 'html';
/** Extensions of the TEMPLATE files of each engine, without a dot. */
export const TEMPLATE_EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  nunjucks: ['njk', 'html', 'htm', 'txt', 'csv', 'md', 'xml', 'json'],
  docx: ['docx'],
};

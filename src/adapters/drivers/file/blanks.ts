import { quoteText } from './duckdb-session.ts';

/** Blanks around a value: spaces of Unicode, tabs and line breaks. */
const BLANKS = String.raw`[\s\p{Z}\x{0b}\x{85}\x{feff}]+`;

/** Returns SQL of a text without the blanks around it, null if nothing is left. `trim` is ten times as slow. */
export const withoutBlanks = (text: string): string =>
  `nullif(regexp_replace(${text}, ${quoteText(`^${BLANKS}|${BLANKS}$`)}, '', 'g'), '')`;

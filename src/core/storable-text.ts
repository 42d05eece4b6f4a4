/** Returns a text as Postgres can store it: without NUL characters and lone surrogates. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** Maximum length of a stored text, in UTF-16 code units. */
const MAX_LENGTH = 16_384;
/** Maximum length of a stored path. Unknown callers choose paths. */
const MAX_PATH_LENGTH = 2000;

/** Returns a text as a column can contain it: without NUL, and at most `maxLength` long. */
export function storedText(text: string, maxLength = MAX_LENGTH): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return short.replaceAll('\0', '\u{fffd}').toWellFormed();
}

/** Returns a path of a caller as a record contains it. */
export const storedPath = (path: string): string => withoutControls(storedText(path, MAX_PATH_LENGTH));

/** Returns an error of a call as its record contains it. It may quote its caller. Lines and tabs stay. */
export const storedError = (error: string): string => withoutControls(storedText(error), /[^\P{Cc}\n\t]/gu);

/** Returns a text with a visible character in place of control characters, which terminals obey. */
const withoutControls = (text: string, controls = /\p{Cc}/gu): string => text.replace(controls, '\u{fffd}');

/** Returns a word with a first capital letter. */
export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns a name in Pascal case in camel case: `savedFilter` for `SavedFilter`. */
export const uncapitalize = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

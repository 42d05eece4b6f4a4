/** Begins the reports on columns that can be read in several ways. */
export const SEVERAL_WAYS = 'The values can be read in several ways';
/** Ends the reports on numbers that could be codes. */
export const MAY_BE_CODES = 'are read as numbers. Set its type in columns to VARCHAR if they are codes';

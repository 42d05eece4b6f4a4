import { registerEnumType } from 'type-graphql';
import { capitalize } from '../src/core/capitalize.ts';
import { ABILITIES } from '../src/core/permissions.ts';

/** Returns the name of a word in GraphQL, e.g. `DATASET_PROMOTE_REFRESH` for `dataset.promoteRefresh`. */
const enumName = (word: string): string =>
  word
    .replace(/[a-z](?=[A-Z])/g, '$&_')
    .replace(/\W/g, '_')
    .toUpperCase();

/**
 * Registers the enum of a closed set of words that is declared elsewhere. REST prints the words. `describe` returns the
 * description of a word. An enum that declares its own values is registered by `registerEnumType`.
 */
export function wordEnum<W extends string>(
  name: string,
  description: string,
  words: readonly W[],
  describe: (word: W) => string,
): Record<string, W> {
  const values = Object.fromEntries(words.map((word) => [enumName(word), word]));
  registerEnumType(values, {
    name,
    description,
    valuesConfig: Object.fromEntries(words.map((word) => [enumName(word), { description: describe(word) }])),
  });
  return values;
}

/** Returns the plural of a noun, e.g. `queries`. */
export const plural = (noun: string): string => noun.replace(/y$/, 'ie') + 's';

/** Kinds of the records that activities, audit events, favourites, notifications and operations concern. */
export const ResourceKindEnum = wordEnum(
  'ResourceKind',
  'Kind of a record.',
  [...Object.keys(ABILITIES), 'token', 'session', 'operation', 'notification'],
  (kind) => `${capitalize(plural(kind))}.`,
);

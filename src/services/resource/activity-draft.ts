import type { ActivityEvent } from '../../core/activity.ts';

/** An activity event without its message, which requires the names of users, teams, tags or folders. */
export interface EventDraft extends Omit<ActivityEvent, 'message'> {
  /** The subjects of the sentence, as keys of `loadNames`. */
  keys: string[];
  /** Returns the message without its subject. `names` are the names of `keys`, in their order. */
  sentence(resource: string, names: string[]): string;
  /** Name of a list of the resource that is replaced as a whole. All changes of its rows are one event. */
  replaced?: string;
}

/** Fields of every row that are not part of the activity. */
const BOOKKEEPING = ['id', 'tenantId', 'version', 'createdAt', 'updatedAt'];

/** Returns the changed fields that are part of the activity. */
export const reportedFields = (fields: readonly string[], silent: readonly string[] = []): string[] =>
  fields.filter((field) => !BOOKKEEPING.includes(field) && !silent.includes(field));

/** Joins words: `name`, `name and slug`, `name, slug and query`. */
export const joinWords = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' and ');

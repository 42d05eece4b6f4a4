/** A mistake in a file of a template. Line and column are from 1. */
export interface Mistake {
  path: string;
  message: string;
  line: number | null;
  column: number | null;
}

export const MAX_MESSAGE_CHARACTERS = 500;

const known = new WeakMap<object, Mistake>();

/** Returns the error with a place. The first place that an error gets is where it was thrown, and stays. */
export function locate(error: unknown, place: Omit<Mistake, 'message'>): Error {
  const located = error instanceof Error ? error : new Error(String(error));
  if (!known.has(located)) known.set(located, { ...place, message: messageOf(located) });
  return located;
}

/** Returns the mistake of an error that has a place. */
export const mistakeOf = (error: unknown): Mistake | undefined =>
  error instanceof Error ? known.get(error) : undefined;

/** Throws an error of the language that means exhausted memory: it is not a mistake of a file. */
export function rethrowMemoryError(error: unknown): void {
  if (error instanceof RangeError && /^(Array buffer allocation failed|Invalid string length)/.test(error.message))
    throw error;
}

function messageOf({ name, message }: Error): string {
  if (name === 'RangeError' && message.startsWith('Maximum call stack'))
    return 'The templates include or call each other without end';
  return message.trim().slice(0, MAX_MESSAGE_CHARACTERS) || 'Unknown error';
}

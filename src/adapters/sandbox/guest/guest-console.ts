import type { Bridge, GuestLimits } from './bridge.ts';
import { asText, bareObject, ownKeys, SavedError, sliceText, stringify } from './saved.ts';

/** Bytes that a line is counted with in addition to its text, so that empty lines are bounded too. */
const LINE_BYTES = 16;

const LEVELS = { log: 'info', info: 'info', debug: 'debug', trace: 'debug', warn: 'warn', error: 'error' } as const;

/** Creates a `console` whose lines go to the process, up to the limit. */
export function createConsole({ log }: Bridge, { logBytes }: GuestLimits): object {
  let logged = 0;
  const write = (level: string, values: readonly unknown[]): void => {
    let text = '';
    for (let i = 0; i < values.length; i++) {
      const space = logBytes - logged - text.length;
      if (space <= 0) break;
      text += (i > 0 ? ' ' : '') + sliceText(textOf(values[i]), 0, space);
    }
    if (logged >= logBytes) return;
    logged += text.length + LINE_BYTES;
    log(level, text);
  };
  const console = bareObject();
  for (const name of ownKeys(LEVELS) as (keyof typeof LEVELS)[])
    console[name] = (...values: unknown[]) => write(LEVELS[name], values);
  return console;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    if (value instanceof SavedError) return asText(value.stack);
    return (typeof value === 'object' ? stringify(value) : undefined) ?? asText(value);
  } catch {
    return '[object]';
  }
}

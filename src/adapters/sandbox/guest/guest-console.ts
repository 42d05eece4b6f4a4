import type { Bridge, GuestLimits } from './bridge.ts';
import { asText, bareObject, indexOf, ownKeys, SavedError, sliceText, stringify, toNumber } from './saved.ts';

/** Bytes that a line is counted with in addition to its text, so that empty lines are bounded too. */
const LINE_BYTES = 16;

const LEVELS = { log: 'info', info: 'info', debug: 'debug', trace: 'debug', warn: 'warn', error: 'error' } as const;

/** Creates a `console` whose lines go to the process, up to the limit. */
export function createConsole({ log }: Bridge, { logBytes }: GuestLimits): object {
  let logged = 0;
  const write = (level: string, values: readonly unknown[]): void => {
    let text = '';
    const add = (part: string): boolean => {
      const space = logBytes - logged - text.length;
      if (space > 0) text += sliceText(part, 0, space);
      return space > part.length;
    };
    let used = 0;
    if (values.length > 1 && typeof values[0] === 'string') used = addFormatted(values, add);
    for (let i = used; i < values.length; i++) if (!add((i > 0 ? ' ' : '') + textOf(values[i]))) break;
    if (logged >= logBytes) return;
    logged += text.length + LINE_BYTES;
    log(level, text);
  };
  const console = bareObject();
  for (const name of ownKeys(LEVELS) as (keyof typeof LEVELS)[])
    console[name] = (...values: unknown[]) => write(LEVELS[name], values);
  return console;
}

/**
 * Adds the first value with further ones in place of its `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O` and `%c`, as the
 * console of Node does. `add` returns false when the limit of the line is reached. Returns the number of used values.
 */
function addFormatted(values: readonly unknown[], add: (part: string) => boolean): number {
  const format = values[0] as string;
  let used = 1;
  let start = 0;
  for (let at = indexOf(format, '%'); at >= 0 && at < format.length - 1; at++) {
    if (format[at] !== '%') continue;
    const kind = format[at + 1]!;
    const isEscape = kind === '%';
    if (!isEscape && (used === values.length || indexOf('sdifjoOc', kind) < 0)) continue;
    if (!add(sliceText(format, start, at) + (isEscape ? '%' : formatted(kind, values[used])))) return values.length;
    if (!isEscape) used++;
    at++;
    start = at + 1;
  }
  add(sliceText(format, start));
  return used;
}

function formatted(kind: string, value: unknown): string {
  if (kind === 'c') return '';
  if (kind === 's') return textOf(value);
  try {
    if (kind === 'j' || kind === 'o' || kind === 'O') return stringify(value) ?? asText(value);
    const number = typeof value === 'bigint' ? value : typeof value === 'object' ? NaN : toNumber(value);
    return asText(kind === 'i' && typeof number === 'number' ? number - (number % 1) : number);
  } catch {
    return kind === 'd' || kind === 'i' || kind === 'f' ? 'NaN' : textOf(value);
  }
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

import mysql from 'mysql2';
import { badInput } from '../../../core/errors.ts';
import { tooManyDigits, type TemplatePiece } from '../../../core/parameters.ts';
import type { BoundQuery } from '../../../core/row-source.ts';
import type { BoundValue } from './session.ts';

type Parameter = BoundQuery['parameters'][number];

/**
 * A statement with a `?` for each placeholder, and the values bound to them. The text depends on a value only by the
 * number of its digits.
 */
export interface CompiledText {
  text: string;
  values: BoundValue[];
}

/** Decimals have at most 65 digits, 38 of them behind the point (30 in older MariaDB). */
const MAX_DIGITS = 65;
const MAX_SCALE = 30;

/** Row counts accept only a bare `?` and an integer. */
const COUNT_BEFORE = /\b(?:limit|offset|fetch\s+(?:first|next))\s*$|\blimit\s+\d+\s*,\s*$/i;
const SECOND_COUNT = /^\s*(?:,|offset)\s*$/i;

/** Text of a number without exponent, as integer digits and fraction. */
const PLAIN_NUMBER = /^-?(\d+)(?:\.(\d+))?$/;

/**
 * Returns a number with the type of its literal: a decimal, or a double where it is too large or too small. Its digits
 * decide and not the column, so that the server converts it once and can use an index. As text or as a user variable
 * it would be compared differently. Throws BAD_USER_INPUT for digits that no decimal has.
 */
function numeric({ name, value }: Parameter): string {
  const [, whole = '', fraction = ''] = PLAIN_NUMBER.exec(String(value ?? 0)) ?? [];
  if (!whole || whole.length + fraction.length > MAX_DIGITS || fraction.length > MAX_SCALE) {
    if (typeof value === 'string')
      throw tooManyDigits(name, `a decimal has at most ${MAX_DIGITS} digits, ${MAX_SCALE} of them after the point`);
    return '(? + 0e0)';
  }
  return `cast(? as decimal(${whole.length + fraction.length}, ${fraction.length}))`;
}

/**
 * Returns the SQL of a placeholder with its type, so that the server knows it before a value is bound. A text has no
 * cast, which would give it a collation that precedes the column's.
 */
function notation(parameter: Parameter): string {
  switch (parameter.dataType) {
    case 'number':
      return numeric(parameter);
    case 'boolean':
      return 'cast(? as signed)';
    case 'date':
      return 'cast(? as datetime(3))';
    default:
      return '(?)';
  }
}

function bound({ dataType, value }: Parameter): string | null {
  if (value === null) return null;
  if (dataType === 'boolean') return value ? '1' : '0';
  // In the session's time zone, which is UTC.
  return dataType === 'date' ? String(value).replace('T', ' ').replace(/Z$/, '') : String(value);
}

function count({ name, value }: Parameter): BoundValue {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw badInput(`The parameter ${JSON.stringify(name)} counts rows and takes a whole number that is not negative`);
  return mysql.TypedParameter.BIGINT(value);
}

/**
 * Replaces every placeholder by a bound `?`, in parentheses so that it cannot merge with its neighbours. Throws
 * BAD_USER_INPUT for a name without parameter.
 */
export function compilePlaceholders(pieces: TemplatePiece[], parameters: Parameter[]): CompiledText {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const values: BoundValue[] = [];
  let before = '';
  let counts = false;
  const text = pieces.map((piece) => {
    if (typeof piece === 'string') return (before = piece);
    const parameter = byName.get(piece.name);
    if (!parameter) throw badInput(`The placeholder {{${piece.name}}} has no definition`);
    counts = COUNT_BEFORE.test(before) || (counts && SECOND_COUNT.test(before));
    before = '';
    values.push(counts ? count(parameter) : bound(parameter));
    return counts ? ' ? ' : notation(parameter);
  });
  return { text: text.join(''), values };
}

import type { ColumnsFrom } from '../query-process/work.ts';
import { withoutBlanks } from './blanks.ts';
import { isTimeIn, MIN_YEAR, timeIn } from './column-readings.ts';
import { isCandidate, significant } from './column-types.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { isNumeric, numberIn, presentText, readingFor, valueOf, type TextColumn } from './typed-columns.ts';

const SCALE = /^DECIMAL\(\d+,(\d+)\)$/;
const NUMBER_KINDS = `('UBIGINT', 'BIGINT', 'DOUBLE')`;

/**
 * Returns SQL that states whether a value does not fit the type of its column, or would change with it: a fraction or
 * leading zeros in a `BIGINT`, too many decimals, more digits than a `DOUBLE` has, a time of day in a `DATE`. With the
 * type of a former file, a value fits only if recognition would accept it: `1` and `no` are not booleans.
 */
export function isMisfit(source: TextColumn, column: FileColumn, config: FileConfig, from: ColumnsFrom): string {
  if (column.type === 'VARCHAR') return 'false';
  const text = presentText(source, column);
  const fits = [keeps(source, column, config), ...(from === 'former' ? [isRecognised(source, column, config)] : [])];
  const isKept = fits.map((fit) => `coalesce(${fit}, false)`).join(' and ');
  return `(${text} is not null and (try(${valueOf(source, column, config, true)}) is null or not (${isKept})))`;
}

/** Returns SQL that states whether a value stays the same in its type. */
function keeps(source: TextColumn, column: FileColumn, config: FileConfig): string {
  const { type } = column;
  if (isNumeric(type)) {
    const number = withoutBlanks(numberIn(source, column, config, true));
    return `${isCandidate('NUMBER', number)} and not ${roundsNumber(number, type)}`;
  }
  const text = presentText(source, column);
  const format = readingFor(column, config)?.dateFormat;
  if (format !== undefined && (type === 'DATE' || type === 'TIMESTAMP')) {
    const time = timeIn(text, format);
    return `(${time} is null or (year(${time}) >= ${MIN_YEAR}${type === 'DATE' ? ` and ${time} = cast(${time} as DATE)` : ''}))`;
  }
  if (type === 'DATE') return `coalesce(try_cast(${text} as TIMESTAMP) = try_cast(${text} as DATE), true)`;
  return 'true';
}

/** Returns SQL that states whether recognition gives a value this type. */
function isRecognised(source: TextColumn, column: FileColumn, config: FileConfig): string {
  const { type } = column;
  const { raw, json, isText = false } = source;
  const reading = readingFor(column, config);
  const kind = `json_type(${raw})`;
  if (type === 'JSON') return json ? 'true' : 'false';
  if (isText) return 'false';
  if (isNumeric(type)) {
    if (!json) return 'true';
    return reading?.decimal === undefined
      ? `${kind} in ${NUMBER_KINDS}`
      : `${kind} in ('VARCHAR', 'UBIGINT', 'BIGINT', 'DOUBLE')`;
  }
  const text = withoutBlanks(presentText(source, column));
  const written =
    reading?.dateFormat === undefined || type === 'BOOLEAN'
      ? isCandidate(type as 'BOOLEAN' | 'DATE' | 'TIMESTAMP', text)
      : isTimeIn(text, reading.dateFormat);
  return json ? `${kind} = '${type === 'BOOLEAN' ? 'BOOLEAN' : 'VARCHAR'}' and ${written}` : written;
}

/** Returns SQL that states whether a number in the usual form has other digits in its type. */
function roundsNumber(text: string, type: string): string {
  const double = `try_cast(${text} as DOUBLE)`;
  const decimals = `rtrim(split_part(${text}, '.', 2), '0')`;
  const hasExponent = `contains(lower(${text}), 'e')`;
  if (type === 'DOUBLE') return roundsDigits(text);
  const scale = SCALE.exec(type)?.[1];
  if (scale !== undefined)
    return `(case when ${hasExponent} then ${double} <> try_cast(try_cast(${text} as ${type}) as DOUBLE)
      else strlen(${decimals}) > ${scale} end)`;
  return `(case when ${hasExponent} then ${double} <> floor(${double}) when contains(${text}, '.') then ${decimals} <> ''
    else cast(try_cast(${text} as ${type}) as VARCHAR) <> ${text} end)`;
}

/** Digits of a decimal that every double has. */
const DOUBLE_DIGITS = 15;

/** Returns SQL that states whether a double has other digits than a text, as it is printed in the shortest form and with 17. */
function roundsDigits(text: string): string {
  const double = `try_cast(${text} as DOUBLE)`;
  const printed = [`cast(${double} as VARCHAR)`, `format('{:.16e}', ${double})`].map(significant);
  return `coalesce(strlen(${significant(text)}) > ${DOUBLE_DIGITS} and ${significant(text)} not in (${printed.join(', ')}), false)`;
}

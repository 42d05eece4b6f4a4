import type { ColumnsFrom } from '../query-process/work.ts';
import { withoutBlanks } from './blanks.ts';
import { isTimeIn, MIN_YEAR, timeIn } from './column-readings.ts';
import { isCandidate, isDeclaredBoolean, significant } from './column-types.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { isNumeric, numberIn, presentText, readingFor, valueOf, type TextColumn } from './typed-columns.ts';
import { isValidDate, isValidIn, isValidTime } from './valid-times.ts';

const SCALE = /^DECIMAL\(\d+,(\d+)\)$/;

/** SQL that finds the values that do not fit: parts to select once under their names, and the condition. */
interface Misfits {
  selected: { sql: string; name: string }[];
  condition: string;
}

/**
 * Returns SQL that states whether a value does not fit the type of its column, or would change with it: a fraction or
 * leading zeros in a `BIGINT`, too many decimals, more digits than a `DOUBLE` has, a time of day in a `DATE`. With the
 * type of a former file, a value fits only if recognition would accept it: `1` and `no` are not booleans. The names of
 * the selected parts begin with `name`.
 */
export function misfits(
  source: TextColumn,
  column: FileColumn,
  config: FileConfig,
  from: ColumnsFrom,
  name: string,
): Misfits {
  const { type } = column;
  const text = presentText(source, column);
  const format = isTime(type) ? readingFor(column, config)?.dateFormat : undefined;
  const [bare, time] = [`${name}_bare`, `${name}_time`];
  const kept = keeps(type, bare, format === undefined ? undefined : { time, format });
  const fits = from === 'former' ? `${kept} and ${isRecognised(source, column, config, name)}` : kept;
  return {
    selected: [
      { sql: `${text} is not null`, name: `${name}_given` },
      { sql: `try(${valueOf(source, column, config, true)}) is null`, name: `${name}_failed` },
      { sql: withoutBlanks(isNumeric(type) ? numberIn(source, column, config, true) : text), name: bare },
      ...(format === undefined ? [] : [{ sql: timeIn(text, format), name: time }]),
      ...(source.json ? [{ sql: `json_type(${source.raw})`, name: `${name}_kind` }] : []),
    ],
    condition: `${name}_given and (${name}_failed or not coalesce(${fits}, false))`,
  };
}

const isTime = (type: string): boolean => type === 'DATE' || type === 'TIMESTAMP';

/** Returns SQL that states whether a value stays the same in its type. `given` is its format of dates, and SQL of its time. */
function keeps(type: string, text: string, given: { time: string; format: string } | undefined): string {
  if (isNumeric(type)) return `${isCandidate('NUMBER', text)} and not ${roundsNumber(text, type)}`;
  if (type === 'BOOLEAN') return isDeclaredBoolean(text);
  if (!isTime(type)) return 'true';
  const usual = type === 'DATE' ? isValidDate(text) : isValidTime(text);
  if (!given) return usual;
  const { time, format } = given;
  const isDay = type === 'DATE' ? ` and ${time} = cast(${time} as DATE)` : '';
  return `case when ${time} is null then ${usual}
    else year(${time}) >= ${MIN_YEAR}${isDay} and ${isValidIn(text, format)} end`;
}

/** Returns SQL that states whether recognition gives a value this type. */
function isRecognised(source: TextColumn, column: FileColumn, config: FileConfig, name: string): string {
  const { type } = column;
  const text = `${name}_bare`;
  const { json, isText = false } = source;
  const reading = readingFor(column, config);
  const kind = `${name}_kind`;
  if (type === 'JSON') return json ? 'true' : 'false';
  if (isText) return 'false';
  if (isNumeric(type)) {
    if (!json) return 'true';
    return `${kind} in ('UBIGINT', 'BIGINT', 'DOUBLE'${reading?.decimal === undefined ? '' : `, 'VARCHAR'`})`;
  }
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

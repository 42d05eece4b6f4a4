import fc from 'fast-check';

interface FieldSample {
  text: string;
  values: readonly number[];
}

/** A cron expression and the local times that it names. */
export interface CronSample {
  text: string;
  /** The same expression with lists of numbers in place of names, ranges and steps. */
  plainText: string;
  matches: (local: Date) => boolean;
}

const MONTHS = ['JAN', 'feb', 'Mar', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

const range = (from: number, to: number, step: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);

/** An item of a field: a value, a range, or steps. SUN is 0 at the beginning of a range and 7 at its end. */
function itemArbitrary(
  min: number,
  max: number,
  lastOfStar: number,
  names?: readonly string[],
): fc.Arbitrary<FieldSample> {
  const write = (value: number, isNamed: boolean) => (isNamed && names ? names[value - min]! : String(value));
  const value = fc
    .tuple(fc.integer({ min, max }), fc.boolean())
    .map(([n, isNamed]) => ({ text: write(n, isNamed), values: [n] }));
  const bounds = fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map((pair) => pair.sort((a, b) => a - b));
  const span = fc
    .tuple(bounds, fc.boolean(), fc.boolean(), fc.option(fc.integer({ min: 1, max: Math.min(max, 7) })))
    .map(([[from, to], isFromNamed, isToNamed, step]) => {
      const first = write(from!, isFromNamed && from !== 7);
      const last = write(to!, isToNamed && to !== 0);
      return { text: `${first}-${last}${step === null ? '' : `/${step}`}`, values: range(from!, to!, step ?? 1) };
    });
  const steps = fc
    .integer({ min: 1, max: Math.min(max, 30) })
    .map((step) => ({ text: `*/${step}`, values: range(min, lastOfStar, step) }));
  return fc.oneof(value, value, span, steps);
}

/** A field with values up to `max`. Its `*` and the steps of it end at `lastOfStar`. */
function fieldArbitrary(
  min: number,
  max: number,
  lastOfStar: number,
  names?: readonly string[],
): fc.Arbitrary<FieldSample> {
  const list = fc.array(itemArbitrary(min, max, lastOfStar, names), { minLength: 1, maxLength: 3 }).map((items) => ({
    text: items.map(({ text }) => text).join(','),
    values: items.flatMap(({ values }) => values),
  }));
  return fc.oneof(fc.constant({ text: '*', values: range(min, lastOfStar, 1) }), list);
}

/** Valid expressions. Their days of the month are at most 28, so that each fires. */
export const cronArbitrary: fc.Arbitrary<CronSample> = fc
  .tuple(
    fieldArbitrary(0, 59, 59),
    fieldArbitrary(0, 23, 23),
    fieldArbitrary(1, 28, 31),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant({ text: '*', values: range(1, 12, 1) }) },
      fieldArbitrary(1, 12, 12, MONTHS),
    ),
    fieldArbitrary(0, 7, 6, WEEKDAYS),
  )
  .map((fields) => {
    const [minute, hour, day, month, weekday] = fields;
    const isDay = (local: Date) => day.values.includes(local.getUTCDate());
    const isWeekday = (local: Date) => weekday.values.some((value) => value % 7 === local.getUTCDay());
    const isDate =
      day.text === '*' ? isWeekday : weekday.text === '*' ? isDay : (local: Date) => isDay(local) || isWeekday(local);
    return {
      text: fields.map(({ text }) => text).join(' '),
      plainText: fields.map((field) => plainTextOf(field, field === weekday)).join(' '),
      matches: (local: Date) =>
        minute.values.includes(local.getUTCMinutes()) &&
        hour.values.includes(local.getUTCHours()) &&
        month.values.includes(local.getUTCMonth() + 1) &&
        isDate(local),
    };
  });

function plainTextOf({ text, values }: FieldSample, isWeekday: boolean): string {
  if (text === '*') return text;
  const numbers = new Set(isWeekday ? values.map((value) => value % 7) : values);
  return [...numbers].sort((a, b) => a - b).join(',');
}

import type { EChartsOption, GridComponentOption } from 'echarts';
import type { FieldType } from '../../core/fields.ts';
import type { Picture } from '../../core/visual/picture.ts';
import { FAINT, headHeight, INK, LINE, MARGIN, type Room } from './frame.ts';
import { clean, datePattern, labelsOf, shorten, shortFormat, toNumber, widthOf } from './text.ts';

type Single<T> = Exclude<NonNullable<T>, unknown[]>;

/** An axis option that is valid for both directions. */
export type Axis = Single<EChartsOption['xAxis']> & Single<EChartsOption['yAxis']>;

type Column = Picture['data']['columns'][number];

const TEXT = { color: INK, fontSize: 11, hideOverlap: true };
const NAME = { nameLocation: 'middle', nameTextStyle: { color: FAINT, fontSize: 12 } } as const;
const SPLIT = { splitLine: { lineStyle: { color: LINE } } };

/** Creates an axis of numbers. It begins at zero unless `scaled`; an axis of integers has only integer ticks. */
export const numberAxis = ({ label, type }: Column, values: Iterable<number | null>, scaled = false): Axis => ({
  type: 'value',
  name: clean(label),
  ...NAME,
  scale: scaled,
  ...(type === 'integer' && { minInterval: 1 }),
  axisLine: { show: false },
  axisTick: { show: false },
  axisLabel: { ...TEXT, formatter: shortFormat(values, true) },
  ...SPLIT,
});

/** Creates an axis of times, in UTC. */
const timeAxis = (name: string, pattern: string | null | undefined): Axis => ({
  type: 'time',
  name: clean(name),
  ...NAME,
  axisLine: { lineStyle: { color: FAINT } },
  axisLabel: { ...TEXT, ...(pattern && { formatter: datePattern(pattern) }) },
  splitLine: { show: false },
});

/** Creates an axis of names. Labels are rotated when they do not fit side by side, and cut after `most` letters. */
export function nameAxis(name: string, names: readonly string[], room: number, most = 24): Axis {
  const widest = names.reduce((wide, one) => Math.max(wide, widthOf(shorten(one, most), 11)), 0);
  // ECharts omits labels that are not a third narrower than their slot.
  const turned = widest * 1.3 > room / Math.max(1, names.length);
  return {
    type: 'category',
    name: clean(name),
    ...NAME,
    data: [...names],
    axisLine: { lineStyle: { color: FAINT } },
    axisTick: { show: false },
    axisLabel: { ...TEXT, rotate: turned ? 40 : 0, formatter: (one: string) => shorten(one, most) },
    splitLine: { show: false },
  };
}

/** Creates the axis that fits a field's type: times, numbers, or categories. `values` are the values of the field. */
export function axisOf(column: Column, values: readonly unknown[], room: number, pattern?: string | null): Axis {
  if (isTime(column.type)) return timeAxis(column.label, pattern);
  return isNumber(column.type)
    ? numberAxis(column, values.map(toNumber), true)
    : nameAxis(column.label, values.map(labelsOf(values, column.type)), room);
}

export const isTime = (type: FieldType): boolean => type === 'date' || type === 'datetime';
export const isNumber = (type: FieldType): boolean => type === 'integer' || type === 'number';

/** Returns the grid between title and legend. Labels and names of the axes stay within it. */
export const gridIn = ({ top, bottom }: Room, right = MARGIN): GridComponentOption => ({
  left: MARGIN,
  right,
  top,
  bottom,
  outerBoundsMode: 'same',
  outerBoundsContain: 'all',
});

/** Returns whether a picture is too low for axis names and long labels. */
export const isLow = ({ height }: Picture): boolean => height < 280;

/** Returns the space that title and legend leave. */
export const roomBetween = (note: string, legendHeight: number): Room => ({
  top: headHeight(note) + 8,
  bottom: MARGIN + (legendHeight && legendHeight + 4),
});

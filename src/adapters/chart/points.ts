import type { EChartsOption, LineSeriesOption, ScatterSeriesOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { axisOf, gridIn, isNumber, isTime, roomBetween } from './axes.ts';
import { FAINT, frameOptions, omissionNote, legendBelow } from './frame.ts';
import { label, axisPosition, toNumber } from './text.ts';

type Point = [x: number | string, y: number | string, size: number | null];

const MAX_SERIES = 20;
const TREND = 'Trend';

/** Draws a point for each row. */
export function points(picture: Picture): EChartsOption {
  const { config, data, width, height } = picture;
  const at = (name: string | null | undefined) => data.columns.findIndex((column) => column.name === name);
  const [x, y] = [at(config.xAxis), at(config.yAxis)] as const;
  const [xColumn, yColumn] = [data.columns[x]!, data.columns[y]!];
  const [size, group] = [at(config.sizeField), at(config.groupBy)];
  const placeOf = (value: unknown, { type }: typeof xColumn) =>
    isTime(type) || isNumber(type) ? axisPosition(value, type) : label(value, type);

  const groups = new Map<string, Point[]>();
  for (const row of data.rows) {
    const [px, py] = [placeOf(row[x], xColumn), placeOf(row[y], yColumn)];
    if (px === null || py === null) continue;
    const name = group < 0 ? '' : label(row[group], data.columns[group]!.type);
    groups.set(name, [...(groups.get(name) ?? []), [px, py, size < 0 ? null : toNumber(row[size])]]);
  }
  const shown = [...groups].toSorted(([, a], [, b]) => b.length - a.length).slice(0, MAX_SERIES);
  const all = shown.flatMap(([, some]) => some);
  const trend = config.showTrendline ? trendOf(all) : null;
  const note = [omissionNote(data.rows.length, data.total, 'rows'), omissionNote(shown.length, groups.size, 'groups')]
    .filter(Boolean)
    .join(', ');
  const legend = legendBelow(
    picture,
    shown.map(([name]) => name),
    group >= 0,
  );
  const sizeOf = sizes(all);
  const valuesAt = (axis: 0 | 1) => [...new Set(all.map((point) => point[axis]))];
  return {
    ...frameOptions(picture, note),
    ...(legend.legend && { legend: legend.legend }),
    grid: gridIn(roomBetween(note, legend.height), 28),
    xAxis: axisOf(xColumn, valuesAt(0), width - 100),
    yAxis: axisOf(yColumn, valuesAt(1), Math.max(height, 1e6)),
    series: [
      ...shown.map(([name, some]): ScatterSeriesOption => ({
        type: 'scatter',
        name,
        data: some,
        symbolSize: (point: Point) => sizeOf(point[2]),
        itemStyle: { opacity: 0.65 },
      })),
      ...(trend
        ? [
            {
              type: 'line',
              name: TREND,
              data: trend,
              symbol: 'none',
              lineStyle: { color: FAINT, type: 'dashed', width: 1.5 },
              z: 3,
            } satisfies LineSeriesOption,
          ]
        : []),
    ],
  };
}

/** Returns a function from a number to the diameter of its point. The area is proportional to the number. */
function sizes(all: readonly Point[]): (value: number | null) => number {
  const usual = all.length > 500 ? 5 : 8;
  const most = all.reduce((max, [, , value]) => Math.max(max, value ?? 0), 0);
  return (value) => (most === 0 ? usual : 4 + 24 * Math.sqrt(Math.max(0, value ?? 0) / most));
}

/** Returns the two ends of the least-squares line; null if there is no such line. */
function trendOf(all: readonly Point[]): [number, number][] | null {
  const pairs = all.filter(
    (point): point is [number, number, number | null] => typeof point[0] === 'number' && typeof point[1] === 'number',
  );
  if (pairs.length < 2) return null;
  const mean = (axis: 0 | 1) => pairs.reduce((sum, point) => sum + point[axis] / pairs.length, 0);
  const [mx, my] = [mean(0), mean(1)];
  const spread = pairs.reduce((sum, [px]) => sum + (px - mx) ** 2, 0);
  if (spread === 0) return null;
  const slope = pairs.reduce((sum, [px, py]) => sum + (px - mx) * (py - my), 0) / spread;
  const [first, last] = pairs.reduce(
    ([low, high], [px]) => [Math.min(low, px), Math.max(high, px)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  return [first, last].map((px): [number, number] => [px, my + slope * (px - mx)]);
}

import type { EChartsOption, LineSeriesOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { axisOf, gridIn, isLow, isNumber, isTime, numberAxis, roomBetween } from './axes.ts';
import { frameOptions, omissionNote, legendBelow } from './frame.ts';
import { pivotGroups } from './series.ts';
import { label, axisPosition } from './text.ts';

/** Markers for more points than this would hide the line. */
const FEW_POINTS = 40;

/** Draws lines over time, a number, or the values of a field. */
export function lines(picture: Picture): EChartsOption {
  const { config, data, width } = picture;
  const { places, series, total } = pivotGroups(data);
  const note = [omissionNote(data.rows.length, data.total, 'groups'), omissionNote(series.length, total, 'series')]
    .filter(Boolean)
    .join(', ');
  const legend = legendBelow(
    picture,
    series.map(({ name }) => name),
    config.showLegend ?? series.length > 1,
  );
  const x = data.columns[0]!;
  const named = (column: typeof x) => (isLow(picture) ? { ...column, label: '' } : column);
  const names = places.map((value) => label(value, x.type));
  const placed = isTime(x.type) || isNumber(x.type);
  // A missing value has no position on an axis of numbers.
  const pointsOf = (values: readonly (number | null)[]): LineSeriesOption['data'] =>
    (placed
      ? values.flatMap((value, i) => {
          const at = axisPosition(places[i], x.type);
          return at === null ? [] : [[at, value]];
        })
      : [...values]) as LineSeriesOption['data'];
  return {
    ...frameOptions(picture, note),
    ...(legend.legend && { legend: legend.legend }),
    grid: gridIn(roomBetween(note, legend.height), 28),
    xAxis: axisOf(named(x), names, width - 100, config.dateFormat),
    yAxis: numberAxis(named(data.columns.at(-1)!)),
    series: series.map(({ name, values }): LineSeriesOption => ({
      type: 'line',
      name,
      data: pointsOf(values),
      connectNulls: true,
      lineStyle: { width: 2 },
      symbol: 'circle',
      symbolSize: 5,
      showSymbol: config.showPoints ?? places.length <= FEW_POINTS,
      ...(config.smooth && { smooth: true, smoothMonotone: 'x' as const }),
      ...(config.showArea && { areaStyle: { opacity: 0.18 } }),
    })),
  };
}

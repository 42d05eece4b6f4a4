import type { BarSeriesOption, EChartsOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { gridIn, isLow, nameAxis, numberAxis, roomBetween } from './axes.ts';
import { FAINT, frameOptions, omissionNote, legendBelow } from './frame.ts';
import { pivotGroups, type Pivot } from './series.ts';
import { labelsOf, shortFormat } from './text.ts';

const HEIGHT_OF_LABEL = 22;

/** Draws bars for the values of a field, grouped or stacked. */
export function bars(picture: Picture): EChartsOption {
  const { config, data, width, height } = picture;
  const { places, series, total } = pivotGroups(data);
  const note = [omissionNote(data.rows.length, data.total, 'groups'), omissionNote(series.length, total, 'series')]
    .filter(Boolean)
    .join(', ');
  const legend = legendBelow(
    picture,
    series.map(({ name }) => name),
    config.showLegend ?? series.length > 1,
  );
  const lying = config.orientation === 'horizontal';
  const [x, measure] = [data.columns[0]!, data.columns.at(-1)!];
  const low = isLow(picture);
  const names = nameAxis(
    low || lying ? '' : x.label,
    places.map(labelsOf(places, x.type)),
    lying || low ? Number.POSITIVE_INFINITY : width - 100,
    lying ? Math.floor(width / 20) : low ? 10 : 24,
  );
  const drawn = series.flatMap(({ values }) => values);
  const highest = config.stacked ? tallest(places.length, series) : 0;
  const numbers = numberAxis(low ? { ...measure, label: '' } : measure, config.stacked ? [highest] : drawn);
  const format = shortFormat(drawn);
  const room = roomBetween(note, legend.height);
  const readable = config.stacked
    ? (HEIGHT_OF_LABEL * highest) / Math.max(1, (lying ? width : height) - room.top - room.bottom)
    : 0;
  return {
    ...frameOptions(picture, note),
    ...(legend.legend && { legend: legend.legend }),
    grid: gridIn(room, lying ? 28 : undefined),
    // The first category is at the top.
    ...(lying ? { xAxis: numbers, yAxis: { ...names, inverse: true } } : { xAxis: names, yAxis: numbers }),
    series: series.map(({ name, values }): BarSeriesOption => ({
      type: 'bar',
      name,
      data: values,
      barMaxWidth: 56,
      ...(config.stacked && { stack: 'all' }),
      itemStyle: { borderRadius: config.stacked ? 0 : lying ? [0, 2, 2, 0] : [2, 2, 0, 0] },
      ...(config.showDataLabels && {
        label: {
          show: true,
          position: config.stacked ? 'inside' : lying ? 'right' : 'top',
          fontSize: 10,
          ...(!config.stacked && { color: FAINT }),
          formatter: ({ value }) => (value === null || Math.abs(Number(value)) < readable ? '' : format(Number(value))),
        },
        labelLayout: { hideOverlap: true },
      }),
    })),
  };
}

/** Returns the sum of the highest stack. */
const tallest = (places: number, series: Pivot['series']): number =>
  Array.from({ length: places }, (_, i) =>
    series.reduce((sum, { values }) => sum + Math.abs(values[i] ?? 0), 0),
  ).reduce((most, sum) => Math.max(most, sum), 0);

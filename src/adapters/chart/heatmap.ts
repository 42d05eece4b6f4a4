import type { EChartsOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { gridIn, nameAxis, roomBetween } from './axes.ts';
import { isLight, scale } from './colors.ts';
import { frameOptions, INK, omissionNote, MARGIN } from './frame.ts';
import { labelsOf, shortFormat, toNumber } from './text.ts';

type Label = (value: unknown) => string;

/** Draws a cell for each pair of values of two fields. */
export function heatmap(picture: Picture): EChartsOption {
  const { config, data, width } = picture;
  const [x, y] = [data.columns[0]!, data.columns[1]!];
  const [labelX, labelY] = [x, y].map(({ type }, at) =>
    labelsOf(
      data.rows.map((row) => row[at]),
      type,
    ),
  ) as [Label, Label];
  const cells = data.rows
    .map(([px, py, value]) => [labelX(px), labelY(py), toNumber(value)] as const)
    .filter((cell): cell is readonly [string, string, number] => cell[2] !== null);
  const values = cells.map(([, , value]) => value);
  const [low, high] = values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const [min, max] =
    values.length === 0 ? [0, 1] : low === high ? [Math.min(0, low), Math.max(0, high) || 1] : [low, high];
  const colors = scale(config.colorScheme);
  const near = (value: number) => colors[Math.round(((value - min) / (max - min)) * (colors.length - 1))]!;
  const note = omissionNote(data.rows.length, data.total, 'groups');
  const [names, lines] = [
    [...new Set(data.rows.map(([px]) => labelX(px)))],
    [...new Set(data.rows.map(([, py]) => labelY(py)))],
  ];
  const format = shortFormat(values);
  const cell = (value: number) => ({ label: { color: isLight(near(value)) ? INK : '#ffffff' } });
  return {
    ...frameOptions(picture, note),
    grid: gridIn(roomBetween(note, 0), 92),
    xAxis: nameAxis(x.label, names, width - 200),
    yAxis: { ...nameAxis(y.label, lines, Number.POSITIVE_INFINITY), inverse: true },
    visualMap: {
      type: 'continuous',
      min,
      max,
      calculable: false,
      right: MARGIN,
      top: 'middle',
      itemWidth: 12,
      itemHeight: 140,
      inRange: { color: colors },
      text: [format(max), format(min)],
      textStyle: { color: INK, fontSize: 11 },
    },
    series: [
      {
        type: 'heatmap',
        data: cells.map(([px, py, value]) => ({ value: [px, py, value], ...cell(value) })),
        itemStyle: { borderColor: '#ffffff', borderWidth: 1 },
        ...(config.showValues && {
          label: {
            show: true,
            fontSize: 10,
            formatter: (cell: { value?: unknown }) => format((cell.value as [string, string, number])[2]),
          },
          labelLayout: { hideOverlap: true },
        }),
      },
    ],
  };
}

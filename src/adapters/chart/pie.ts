import type { EChartsOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { FAINT, frameOptions, headHeight, INK, omissionNote, MARGIN, centredText } from './frame.ts';
import { labelsOf, shortFormat, toNumber, shorten } from './text.ts';

interface Slice {
  name: string;
  value: number;
  itemStyle?: { color: string };
}

/** Maximum number of slices that are still distinguishable. */
const MAX_SLICES = 20;
const ROW = 24;

/** Draws slices of a whole. */
export function pie(picture: Picture): EChartsOption {
  const { config, data, width, height } = picture;
  const top = headHeight('note');
  const beside = (config.showLegend ?? true) && width >= 360;
  const { slices, drawn } = slicesOf(
    picture,
    Math.max(2, Math.min(MAX_SLICES, Math.floor((height - top - MARGIN) / ROW))),
  );
  const note = omissionNote(drawn, data.total, 'groups');
  if (slices.every(({ value }) => value === 0))
    return { ...frameOptions(picture, ''), graphic: centredText(picture, 'Nothing above zero to show') };
  const room = { x: (width - (beside ? 200 : 0)) / 2, y: top + (height - top - MARGIN) / 2 };
  const radius = Math.max(20, Math.min(room.x - (beside ? 50 : 90), (height - top - MARGIN) / 2 - 22));
  const whole = slices.reduce((sum, { value }) => sum + value, 0);
  const share = (value: number) => `${((100 * value) / whole).toFixed(value / whole < 0.1 ? 1 : 0)}%`;
  const format = shortFormat(slices.map(({ value }) => value));
  const written = (name: string, value: number) =>
    [beside ? '' : shorten(name, 18), (config.showPercentages ?? true) ? share(value) : format(value)]
      .filter(Boolean)
      .join(' ');
  return {
    ...frameOptions(picture, note),
    ...(beside && {
      legend: {
        type: 'plain',
        orient: 'vertical',
        left: width - 196,
        top: 'middle',
        itemWidth: 14,
        itemHeight: 10,
        itemGap: ROW - 14,
        textStyle: { color: INK, fontSize: 12, width: 156, overflow: 'truncate' },
      },
    }),
    series: [
      {
        type: 'pie',
        center: [room.x, room.y],
        radius: [(radius * (config.innerRadius ?? 0)) / 100, radius],
        startAngle: 90,
        data: slices,
        itemStyle: { borderColor: '#ffffff', borderWidth: 1.5 },
        label: { color: INK, fontSize: 11, formatter: ({ name, value }) => written(name, Number(value)) },
        labelLine: { length: 8, length2: 8, lineStyle: { color: FAINT } },
        labelLayout: { hideOverlap: true },
        minShowLabelAngle: 3,
      },
    ],
  };
}

/** Returns the largest slices. Where values can be added up, the rest is one more slice. */
function slicesOf({ data, config }: Picture, most: number): { slices: Slice[]; drawn: number } {
  const type = data.columns[0]!.type;
  const labelOf = labelsOf(
    data.rows.map(([name]) => name),
    type,
  );
  const all = data.rows.map(([name, value]): Slice => ({
    name: labelOf(name),
    value: Math.max(0, toNumber(value) ?? 0),
  }));
  if (all.length <= most) return { slices: all, drawn: data.rows.length };
  const additive = ['count', 'sum'].includes(config.aggregation ?? 'sum');
  const kept = new Set(all.toSorted((a, b) => b.value - a.value).slice(0, additive ? most - 1 : most));
  const rest = all.filter((slice) => !kept.has(slice)).reduce((sum, { value }) => sum + value, 0);
  const slices = all.filter((slice) => kept.has(slice));
  return {
    slices: additive
      ? [...slices, { name: `Other (${all.length - kept.size})`, value: rest, itemStyle: { color: '#c3c8d1' } }]
      : slices,
    drawn: additive ? data.rows.length : kept.size,
  };
}

import type { EChartsOption, LineSeriesOption } from 'echarts';
import type { FieldType } from '../../core/fields.ts';
import type { Picture } from '../../core/visual/picture.ts';
import { intervalOf } from '../../core/visual/plan.ts';
import { axisOf, gridIn, isLow, isNumber, isTime, numberAxis, roomBetween } from './axes.ts';
import { frameOptions, omissionNote, legendBelow } from './frame.ts';
import { pivotGroups } from './series.ts';
import { axisPosition } from './text.ts';

/** Markers for more points than this would hide the line. */
const FEW_POINTS = 40;

/** Draws lines over time, a number, or the values of a field. */
export function lines(picture: Picture): EChartsOption {
  const { config, data, width } = picture;
  const { places, series, total } = pivotGroups(data);
  const at = data.columns[0]!;
  const ends = incompleteEnds(picture, places, at.type);
  const note = [
    omissionNote(data.rows.length, data.total, 'groups'),
    omissionNote(series.length, total, 'series'),
    ends.note,
  ]
    .filter(Boolean)
    .join(', ');
  const legend = legendBelow(
    picture,
    series.map(({ name }) => name),
    config.showLegend ?? series.length > 1,
  );
  const named = (column: typeof at) => (isLow(picture) ? { ...column, label: '' } : column);
  const placed = isTime(at.type) || isNumber(at.type);
  // A missing value has no position on an axis of numbers.
  const pointsOf = (values: readonly (number | null)[]): LineSeriesOption['data'] =>
    (placed
      ? values.flatMap((value, i) => {
          const position = axisPosition(places[i], at.type);
          return position === null ? [] : [[position, value]];
        })
      : [...values]) as LineSeriesOption['data'];
  return {
    ...frameOptions(picture, note),
    ...(legend.legend && { legend: legend.legend }),
    grid: gridIn(roomBetween(note, legend.height), 28),
    xAxis: axisOf(named(at), places, width - 100, config.dateFormat),
    yAxis: numberAxis(
      named(data.columns.at(-1)!),
      series.flatMap(({ values }) => values),
    ),
    series: series.flatMap(({ name, values }): LineSeriesOption[] => {
      const option: LineSeriesOption = {
        type: 'line',
        name,
        connectNulls: true,
        symbol: 'circle',
        symbolSize: 5,
        showSymbol: config.showPoints ?? places.length <= FEW_POINTS,
        ...(config.smooth && { smooth: true, smoothMonotone: 'x' as const }),
        ...(config.showArea && { areaStyle: { opacity: 0.18 } }),
      };
      return ends.partsOf(values).map(({ part, isComplete }) => ({
        ...option,
        data: pointsOf(part),
        lineStyle: { width: 2, ...(!isComplete && { type: [4, 4] }) },
      }));
    }),
  };
}

interface LinePart {
  /** The values of the line, null outside of the part. */
  part: (number | null)[];
  isComplete: boolean;
}

/**
 * Returns a note on incomplete periods at the ends, and the parts that divide a line into complete and incomplete
 * periods.
 */
function incompleteEnds(
  { incomplete, config }: Picture,
  places: readonly unknown[],
  type: FieldType,
): { note: string; partsOf: (values: (number | null)[]) => LinePart[] } {
  const { first = false, last = false } = incomplete ?? {};
  const order = places
    .map((place, i) => [axisPosition(place, type), i] as const)
    .filter(([position]) => position !== null)
    .toSorted(([one], [other]) => one! - other!)
    .map(([, i]) => i);
  // Between complete periods there is a line to draw.
  if ((!first && !last) || order.length < 3) return { note: '', partsOf: (part) => [{ part, isComplete: true }] };
  const which = first && last ? 'first and last' : first ? 'first' : 'last';
  return {
    note: `${which} ${intervalOf(config)} incomplete`,
    partsOf(values) {
      // The positions where this line has a value: the ends of a part are two of them.
      const drawn = order.filter((i) => values[i] !== null && values[i] !== undefined);
      const isFirst = first && drawn[0] === order[0];
      const isLast = last && drawn.at(-1) === order.at(-1);
      const cut = (from: number, to: number) => {
        const kept = new Set(drawn.slice(from, to));
        return values.map((value, i) => (kept.has(i) ? value : null));
      };
      return [
        ...(isFirst ? [{ part: cut(0, 2), isComplete: false }] : []),
        { part: cut(Number(isFirst), drawn.length - Number(isLast)), isComplete: true },
        ...(isLast ? [{ part: cut(-2, drawn.length), isComplete: false }] : []),
      ];
    },
  };
}

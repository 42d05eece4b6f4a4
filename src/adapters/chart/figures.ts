import type { EChartsOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { FAINT, font, frameOptions, headHeight, INK, LINE, centredText } from './frame.ts';
import { shortFormat, clean, formatValue, label, toNumber, shorten, widthOf } from './text.ts';

/** Draws one number on a scale. */
export function gauge(picture: Picture): EChartsOption {
  const { config, data, width, height } = picture;
  const value = toNumber(data.rows[0]?.[0]);
  if (value === null) return { ...frameOptions(picture, ''), graphic: centredText(picture, 'No data') };
  const min = config.min ?? Math.min(0, value);
  const max = config.max ?? Math.max(roundAbove(value), min + 1);
  const top = headHeight('');
  const radius = Math.max(30, Math.min(width / 2 - 40, (height - top - 20) * 0.56));
  const shares = (config.thresholds ?? []).toSorted((a, b) => a.value - b.value);
  // Each colour of the scale ends at its position; a threshold begins at its own.
  const ends = [...shares.map((threshold) => threshold.value), max].map((end) =>
    Math.min(1, Math.max(0, (end - min) / (max - min))),
  );
  const arcs = ends.map((end, i): [number, string] => [end, i === 0 ? LINE : shares[i - 1]!.color]);
  return {
    ...frameOptions(picture, ''),
    series: [
      {
        type: 'gauge',
        center: [width / 2, top + (height - top) * 0.59],
        radius,
        startAngle: 205,
        endAngle: -25,
        min,
        max,
        splitNumber: 5,
        data: [{ value, name: shorten(clean(data.columns[0]!.label), 40) }],
        axisLine: { lineStyle: { width: 18, color: arcs } },
        progress: { show: shares.length === 0, width: 18 },
        axisTick: { show: false },
        splitLine: { length: 18, distance: -18, lineStyle: { color: '#ffffff', width: 2 } },
        axisLabel: { distance: 24, color: FAINT, fontSize: 11, formatter: shortFormat([min, max], true) },
        pointer: { length: '62%', width: 4, itemStyle: { color: INK } },
        anchor: { show: true, size: 10, itemStyle: { color: INK } },
        title: { offsetCenter: [0, '54%'], color: FAINT, fontSize: 12 },
        detail: {
          show: config.showValue ?? true,
          offsetCenter: [0, '34%'],
          color: INK,
          fontSize: Math.min(28, radius / 4),
          formatter: (at: number) => formatValue(at, null),
        },
      },
    ],
  };
}

/** Returns the smallest of 1, 2, 2.5, 5, 10, … that is not below a number. */
function roundAbove(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= value)!;
}

/** Largest part of a card's width that its number occupies. */
const CARD_WIDTH = 0.7;

/** Draws one number, with space around it. */
export function card(picture: Picture): EChartsOption {
  const { config, data, width, height } = picture;
  const [column] = data.columns;
  const given = data.rows[0]?.[0];
  if (!column || given === null || given === undefined)
    return { ...frameOptions(picture, ''), graphic: centredText(picture, 'No data') };
  const number = column.type === 'date' || column.type === 'datetime' ? null : toNumber(given);
  const text = shorten(
    number === null ? label(given, column.type) : formatValue(given as number | `${number}`, config.format),
    40,
  );
  const size = Math.max(12, Math.min(72, height * 0.22, (12 * width * CARD_WIDTH) / widthOf(text)));
  const middle = headHeight('') + (height - headHeight('')) / 2;
  return {
    ...frameOptions(picture, ''),
    graphic: [
      {
        type: 'text',
        x: width / 2,
        y: middle - 10,
        style: { text, align: 'center', verticalAlign: 'middle', font: font(size, 600), fill: INK },
      },
      {
        type: 'text',
        x: width / 2,
        y: middle + size * 0.62,
        style: {
          text: shorten(clean(column.label), 60),
          align: 'center',
          verticalAlign: 'middle',
          font: font(13),
          fill: FAINT,
        },
      },
    ],
  };
}

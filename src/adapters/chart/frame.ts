import type { EChartsOption, LegendComponentOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { palette } from './colors.ts';
import { clean, shorten, widthOf } from './text.ts';

export const INK = '#1f2933';
export const FAINT = '#667085';
export const LINE = '#e4e7ec';
export const MARGIN = 16;
/** First the font of PDFs. Without quotation marks, because ECharts does not escape them in the attribute. */
const FONT = 'Noto Sans, system-ui, -apple-system, Roboto, Arial, sans-serif';

/** The space of the chart within a picture, in pixels from its edges. */
export interface Room {
  top: number;
  bottom: number;
}

/**
 * Returns the options that all pictures share: background, font, colours, title, and a note below it in small print.
 */
export function frameOptions({ title, config, width }: Picture, note: string): EChartsOption {
  return {
    animation: false,
    backgroundColor: '#ffffff',
    useUTC: true,
    color: palette(config.colorScheme),
    textStyle: { fontFamily: FONT, color: INK },
    title: {
      text: clean(title),
      left: MARGIN,
      top: 16,
      padding: 0,
      itemGap: 6,
      ...(note && { subtext: note }),
      textStyle: { fontSize: 16, fontWeight: 600, color: INK, width: width - 2 * MARGIN, overflow: 'truncate' },
      subtextStyle: { fontSize: 11, color: FAINT, width: width - 2 * MARGIN, overflow: 'truncate' },
    },
  };
}

/** Returns the height of title and note in pixels. */
export const headHeight = (note: string): number => (note ? 60 : 44);

const ROW = 22;
const MAX_ENTRY_CHARACTERS = 28;

/**
 * Creates a legend below the chart with as many rows as its names need, and returns its height. Omits it when it would
 * need more than a third of the picture.
 */
export function legendBelow(
  { width, height }: Picture,
  names: readonly string[],
  wanted: boolean,
): { legend?: LegendComponentOption; height: number } {
  if (!wanted || names.length === 0) return { height: 0 };
  let [rows, used] = [1, 0];
  for (const name of names) {
    const entry = widthOf(shorten(name, MAX_ENTRY_CHARACTERS)) + 42;
    if (used > 0 && used + entry > width - 2 * MARGIN) [rows, used] = [rows + 1, 0];
    used += entry;
  }
  if (rows * ROW > height / 3) return { height: 0 };
  return {
    height: rows * ROW,
    legend: {
      type: 'plain',
      bottom: 8,
      left: MARGIN,
      right: MARGIN,
      itemWidth: 14,
      itemHeight: 10,
      itemGap: 12,
      data: [...names],
      textStyle: { color: INK, fontSize: 12 },
      formatter: (name) => shorten(name, MAX_ENTRY_CHARACTERS),
    },
  };
}

/** Creates a text in the middle of the picture, instead of a chart. */
export const centredText = ({ width, height }: Picture, text: string): EChartsOption['graphic'] => [
  {
    type: 'text',
    x: width / 2,
    y: height / 2,
    style: { text, align: 'center', verticalAlign: 'middle', fontSize: 14, fill: FAINT, fontFamily: FONT },
  },
];

export const font = (size: number, weight: 400 | 600 = 400): string => `${weight} ${size}px ${FONT}`;

/** Returns the note on groups or rows that are not drawn. */
export const omissionNote = (drawn: number, total: number, what: string): string =>
  total > drawn ? `${drawn.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}` : '';

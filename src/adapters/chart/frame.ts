import type { EChartsOption, LegendComponentOption } from 'echarts';
import type { Picture } from '../../core/visual/picture.ts';
import { palette } from './colors.ts';
import { clean, shortened, widthOf } from './text.ts';

export const INK = '#1f2933';
export const FAINT = '#667085';
export const LINE = '#e4e7ec';
export const MARGIN = 16;
/** Without quotation marks: the library writes them into an attribute as they are. */
const FONT = 'system-ui, -apple-system, Roboto, Arial, sans-serif';

/** Where a picture has room for its chart, in pixels from its edges. */
export interface Room {
  top: number;
  bottom: number;
}

/** What all pictures have: background, font, colours, title, and below it in small what the reader should know. */
export function framed({ title, config, width }: Picture, note: string): EChartsOption {
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

/** Pixels that title and note take. */
export const headHeight = (note: string): number => (note ? 60 : 44);

const ROW = 22;
const MAX_ENTRY_CHARACTERS = 28;

/** A legend below the chart, and the height it takes: with as many rows as its names need. None where it would take more than a third of the picture. */
export function legendBelow(
  { width, height }: Picture,
  names: readonly string[],
  wanted: boolean,
): { legend?: LegendComponentOption; height: number } {
  if (!wanted || names.length === 0) return { height: 0 };
  let [rows, used] = [1, 0];
  for (const name of names) {
    const entry = widthOf(shortened(name, MAX_ENTRY_CHARACTERS)) + 42;
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
      formatter: (name) => shortened(name, MAX_ENTRY_CHARACTERS),
    },
  };
}

/** Text in the middle of the picture, instead of a chart. */
export const said = ({ width, height }: Picture, text: string): EChartsOption['graphic'] => [
  {
    type: 'text',
    x: width / 2,
    y: height / 2,
    style: { text, align: 'center', verticalAlign: 'middle', fontSize: 14, fill: FAINT, fontFamily: FONT },
  },
];

export const font = (size: number, weight: 400 | 600 = 400): string => `${weight} ${size}px ${FONT}`;

/** What is said about groups or rows that are not drawn. */
export const leftOut = (drawn: number, total: number, what: string): string =>
  total > drawn ? `${drawn.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}` : '';

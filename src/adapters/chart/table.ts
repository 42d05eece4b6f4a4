import type { EChartsOption, GraphicComponentOption } from 'echarts';
import type { FieldType } from '../../core/fields.ts';
import type { Picture } from '../../core/visual/picture.ts';
import { isNumber } from './axes.ts';
import { font, frameOptions, headHeight, INK, LINE, MARGIN } from './frame.ts';
import { label, minutes, shorten, widthOf } from './text.ts';

const ROW = 24;
const PADDING = 10;
const NARROWEST = 64;
const WIDEST = 260;

/** Draws the first rows, in as many columns as fit. */
export function table(picture: Picture): EChartsOption {
  const { data, width, height } = picture;
  const top = headHeight('note');
  const rows = data.rows.slice(0, Math.max(1, Math.floor((height - top - MARGIN) / ROW) - 1));
  const cells = rows.map((row) => row.map((value, i) => written(value, data.columns[i]!.type)));
  const widths = widthsOf(
    data.columns.map((column, i) => [column.label, ...cells.map((row) => row[i]!)]),
    width - 2 * MARGIN,
  );
  const note = [
    rows.length < data.total ? `${rows.length} of ${data.total.toLocaleString('en')} rows` : '',
    widths.length < data.columns.length ? `${widths.length} of ${data.columns.length} columns` : '',
  ]
    .filter(Boolean)
    .join(', ');
  const line = (texts: readonly string[], index: number, weight: 400 | 600): GraphicComponentOption[] => {
    let left = MARGIN;
    return widths.map((wide, i) => {
      const right = isNumber(data.columns[i]!.type);
      const x = right ? left + wide - PADDING : left + PADDING;
      left += wide;
      return {
        type: 'text',
        x,
        y: top + index * ROW + ROW / 2,
        style: {
          text: fitted(texts[i]!, wide - 2 * PADDING),
          align: right ? 'right' : 'left',
          verticalAlign: 'middle',
          font: font(12, weight),
          fill: INK,
        },
      };
    });
  };
  const total = widths.reduce((sum, wide) => sum + wide, 0);
  const stripe = (index: number, fill: string): GraphicComponentOption => ({
    type: 'rect',
    x: MARGIN,
    y: top + index * ROW,
    shape: { width: total, height: ROW },
    style: { fill },
  });
  return {
    ...frameOptions(picture, note),
    graphic: [
      stripe(0, LINE),
      ...line(
        data.columns.map((column) => column.label),
        0,
        600,
      ),
      ...cells.flatMap((texts, i) => [...(i % 2 === 1 ? [stripe(i + 1, '#f7f8fa')] : []), ...line(texts, i + 1, 400)]),
    ] as EChartsOption['graphic'],
  };
}

/** Formats a cell. A column of times shows midnight as a time too. */
function written(value: unknown, type: FieldType): string {
  if (value === null) return '';
  return type === 'datetime' && typeof value === 'string' ? minutes(value) : label(value, type);
}

/** Returns column widths that fit their texts where possible; remaining space is distributed. */
function widthsOf(columns: readonly string[][], room: number): number[] {
  const wanted = columns.map((texts) =>
    Math.min(WIDEST, Math.max(NARROWEST, texts.reduce((most, text) => Math.max(most, widthOf(text)), 0) + 2 * PADDING)),
  );
  const widths: number[] = [];
  let used = 0;
  for (const wide of wanted) {
    const taken = Math.min(wide, room - used);
    if (widths.length > 0 && taken < NARROWEST) break;
    widths.push(taken);
    used += taken;
  }
  const spare = Math.max(0, room - used) / widths.length;
  return widths.map((wide) => wide + Math.min(spare, 80));
}

/** Shortens a text to the width of its column. */
const fitted = (text: string, room: number): string =>
  widthOf(text) <= room ? text : shorten(text, Math.max(2, Math.floor((text.length * room) / widthOf(text))));

import { createHash } from 'node:crypto';
import type { EChartsOption } from 'echarts';
import { BarChart, GaugeChart, HeatmapChart, LineChart, PieChart, ScatterChart } from 'echarts/charts';
import {
  GraphicComponent,
  GridComponent,
  LegendPlainComponent,
  TitleComponent,
  VisualMapContinuousComponent,
} from 'echarts/components';
import { init, setPlatformAPI, use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import type { VisualComponent } from '../../core/visual/component.ts';
import type { Picture } from '../../core/visual/picture.ts';
import { bars } from './bars.ts';
import { card, gauge } from './figures.ts';
import { frameOptions, centredText } from './frame.ts';
import { heatmap } from './heatmap.ts';
import { lines } from './lines.ts';
import { pie } from './pie.ts';
import { points } from './points.ts';
import { table } from './table.ts';
import { widthOf } from './text.ts';

use([
  BarChart,
  LineChart,
  PieChart,
  ScatterChart,
  HeatmapChart,
  GaugeChart,
  GridComponent,
  TitleComponent,
  LegendPlainComponent,
  VisualMapContinuousComponent,
  GraphicComponent,
  LabelLayout,
  SVGRenderer,
]);

// The reader's font is unknown, so text is measured as a wide one.
setPlatformAPI({
  measureText: (text, font = '') => ({
    width: widthOf(text, Number(/(?<![\d.])([\d.]+)px/.exec(font)?.[1] ?? 12)) * (/bold|600/.test(font) ? 1.1 : 1),
  }),
});

const OPTIONS: Record<VisualComponent, (picture: Picture) => EChartsOption> = {
  'bar-chart': bars,
  'line-chart': lines,
  'pie-chart': pie,
  table,
  'scatter-plot': points,
  heatmap,
  gauge,
  card,
};

/**
 * Removes the attributes that ECharts adds for scripts and pointers: half of the bytes, and random names. Quotation
 * marks in texts are escaped, so that no text matches.
 */
const removeScriptAttributes = (svg: string): string =>
  svg.replace(/ (?:class|ecmeta_\w+)="[^"]*"/g, '').replace(/<style ><!\[CDATA\[[^]*?\]\]>\s*<\/style>\s*/g, '');

/** Prefix of the ids that ECharts numbers by a counter of the process, in definitions and references. */
const NUMBERED_IDS = /( id="| [\w-]+="url\(#)zr\d+-/g;

/**
 * Names ids after the content, so that equal pictures are equal bytes, and so that different ones can stand in one
 * document.
 */
function nameIds(svg: string): string {
  const digest = createHash('sha256').update(svg.replace(NUMBERED_IDS, '$1')).digest('hex').slice(0, 12);
  return svg.replace(NUMBERED_IDS, `$1s${digest}-`);
}

/** Draws a picture as SVG, without a browser: equal pictures are equal bytes. ECharts escapes every text. */
export function render(picture: Picture): string {
  const { component, data, width, height } = picture;
  const option =
    data.rows.length === 0
      ? { ...frameOptions(picture, ''), graphic: centredText(picture, 'No data') }
      : OPTIONS[component](picture);
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption(option);
    return nameIds(removeScriptAttributes(chart.renderToSVGString()));
  } finally {
    chart.dispose();
  }
}

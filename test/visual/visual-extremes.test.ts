import { expect, test } from 'vitest';
import { render } from '../../src/adapters/chart/render.ts';
import type { VisualComponent } from '../../src/core/visual/component.ts';

const NUMBERS = [[5e-324], [1e-300, 2e-300], [1.7e308, -1.7e308], [1.7e308, 1.7e308], [1e300, 1], [0, 1e-200]];
const CHARTS: VisualComponent[] = ['bar-chart', 'line-chart', 'scatter-plot', 'heatmap', 'pie-chart'];

const draw = (component: VisualComponent, rows: unknown[][]): string =>
  render({
    component,
    config: { xAxis: 'x', yAxis: 'g', groupBy: 'g', categoryField: 'x', valueField: 'y' },
    title: 'Extremes',
    width: 800,
    height: 450,
    data: {
      columns: [
        { name: 'x', label: 'x', type: component === 'scatter-plot' ? 'number' : 'string' },
        ...(component === 'pie-chart' ? [] : [{ name: 'g', label: 'g', type: 'string' as const }]),
        { name: 'y', label: 'y', type: 'number' },
      ],
      rows: component === 'pie-chart' ? rows.map(([x, , y]) => [x, y]) : rows,
      total: rows.length,
      truncated: false,
    },
  });

test.for(CHARTS)('a %s of the largest and smallest numbers is drawn', (component) => {
  for (const values of NUMBERS) {
    const svg = draw(
      component,
      values.map((value, row) => [component === 'scatter-plot' ? value : `${row}`, 'a', value]),
    );
    expect(svg).toMatch(/^<svg [^]*<\/svg>$/);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  }
});

test.for(CHARTS)('a %s of names of properties of objects is drawn', (component) => {
  const names = ['hasOwnProperty', '__proto__', 'constructor', 'toString'];
  const svg = draw(
    component,
    names.map((name, row) => [component === 'scatter-plot' ? row : name, name, row + 1]),
  );
  for (const name of names) expect(svg).toContain(name);
});

test.for(CHARTS)('a %s is the same bytes after other ones were drawn, with ids of its own', (component) => {
  const rows = (value: number) => [['1', 'a', value]];
  const idsIn = (svg: string) => new Set([...svg.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
  const first = draw(component, rows(1));
  const other = draw(component, rows(2));
  expect(draw(component, rows(1))).toBe(first);
  for (const id of idsIn(first)) expect(idsIn(other)).not.toContain(id);
  for (const [, id] of first.matchAll(/url\(#([^)]*)\)/g)) expect(idsIn(first)).toContain(id);
});

import { badInput } from '../../core/errors.ts';
import { inchesOf, type PageSettings, type PdfDocument } from '../../core/pdf-printer.ts';

/** Width and height of paper sizes, in inches. */
const PAPER: Readonly<Record<string, [width: number, height: number]>> = {
  A3: [297 / 25.4, 420 / 25.4],
  A4: [210 / 25.4, 297 / 25.4],
  A5: [148 / 25.4, 210 / 25.4],
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
};

/** The bounds of a side of a page, in inches. Readers of PDFs support no longer ones. */
const MIN_SIDE = 0.4;
const MAX_SIDE = 200;
/** The least width and height of the text. */
const MIN_AREA = 0.1;

/** Returns the parameters with which Chromium prints a document. Throws BAD_USER_INPUT for impossible page settings. */
export function printParameters({ page, header, footer }: PdfDocument): Record<string, unknown> {
  const [paperWidth, paperHeight] = paperSize(page.size);
  const margins = Object.entries(page.margin).map(
    ([side, length]) => [side, inches(`margin.${side}`, length)] as const,
  );
  const { top, right, bottom, left } = Object.fromEntries(margins) as Record<keyof PageSettings['margin'], number>;
  const [width, height] = page.landscape ? [paperHeight, paperWidth] : [paperWidth, paperHeight];
  if (left + right > width - MIN_AREA || top + bottom > height - MIN_AREA)
    throw badInput('The margins leave no space on the page');
  const frame = (html: string | null | undefined) =>
    html
      ? `<div style="box-sizing:border-box;width:100%;padding:0 ${right}in 0 ${left}in;font-size:8pt">${html}</div>`
      : '<i></i>';
  return {
    paperWidth,
    paperHeight,
    landscape: page.landscape,
    marginTop: top,
    marginRight: right,
    marginBottom: bottom,
    marginLeft: left,
    // Chromium shows title, date and address where a template is empty.
    ...((header || footer) && {
      displayHeaderFooter: true,
      headerTemplate: frame(header),
      footerTemplate: frame(footer),
    }),
  };
}

function paperSize(size: PageSettings['size']): [width: number, height: number] {
  if (typeof size === 'string') {
    const paper = Object.hasOwn(PAPER, size) ? PAPER[size] : undefined;
    if (!paper) throw badInput(`There is no paper size ${size}`);
    return paper;
  }
  const sides: [number, number] = [inches('size.width', size.width), inches('size.height', size.height)];
  if (sides.some((side) => side < MIN_SIDE || side > MAX_SIDE))
    throw badInput(`The sides of a page have ${MIN_SIDE}in to ${MAX_SIDE}in`);
  return sides;
}

function inches(name: string, length: string): number {
  const value = inchesOf(length);
  if (value === null) throw badInput(`${name} must be a length like 20mm`);
  return value;
}

import { isObject } from '../../core/criteria/value.ts';
import { invalid } from '../../core/input-checks.ts';
import { PAPER_SIZES, type PageSettings } from '../../core/pdf-printer.ts';

type PaperSize = (typeof PAPER_SIZES)[number];

/** Width and height of upright paper, in millimetres. */
const PAPER_MM: Readonly<Record<PaperSize, readonly [number, number]>> = {
  A3: [297, 420],
  A4: [210, 297],
  A5: [148, 210],
  Letter: [215.9, 279.4],
  Legal: [215.9, 355.6],
  Tabloid: [279.4, 431.8],
};
const MM_PER_UNIT: Readonly<Record<string, number>> = {
  mm: 1,
  cm: 10,
  in: 25.4,
  pt: 25.4 / 72,
  pc: 25.4 / 6,
  px: 25.4 / 96,
};
const MIN_MM = 10;
const MAX_MM = 2000;

const SIDES = ['top', 'right', 'bottom', 'left'] as const;
const DEFAULT_MARGIN = '20mm';
const PAGE_KEYS = ['size', 'landscape', 'margin'];

/** The page of settings without one. */
export const DEFAULT_PAGE: PageSettings = {
  size: 'A4',
  landscape: false,
  margin: { top: DEFAULT_MARGIN, right: DEFAULT_MARGIN, bottom: DEFAULT_MARGIN, left: DEFAULT_MARGIN },
};

/** Returns page settings with defaults. Throws BAD_USER_INPUT naming the invalid key below `settings.page`. */
export function parsePage(page: unknown): PageSettings {
  if (page === undefined || page === null) return DEFAULT_PAGE;
  if (!isObject(page)) throw invalid('settings.page', 'must be an object');
  const unknown = Object.keys(page).find((key) => !PAGE_KEYS.includes(key));
  if (unknown !== undefined) throw invalid(`settings.page.${unknown}`, 'is unknown');
  const landscape = page['landscape'] ?? false;
  if (typeof landscape !== 'boolean') throw invalid('settings.page.landscape', 'must be true or false');
  const size = parseSize(page['size'] ?? DEFAULT_PAGE.size);
  const margin = parseMargin(page['margin'] ?? DEFAULT_MARGIN);
  checkFits({ size, landscape, margin });
  return { size, landscape, margin };
}

function parseSize(size: unknown): PageSettings['size'] {
  const path = 'settings.page.size';
  const named = PAPER_SIZES.find((name) => name === size);
  if (named) return named;
  if (!isObject(size)) throw invalid(path, `must be one of ${PAPER_SIZES.join(', ')}, or {width, height}`);
  const unknown = Object.keys(size).find((key) => key !== 'width' && key !== 'height');
  if (unknown !== undefined) throw invalid(`${path}.${unknown}`, 'is unknown');
  const [width, height] = (['width', 'height'] as const).map((key) => {
    const length = parseLength(size[key], `${path}.${key}`);
    const mm = toMm(length);
    if (mm < MIN_MM || mm > MAX_MM) throw invalid(`${path}.${key}`, `must be ${MIN_MM}mm to ${MAX_MM}mm`);
    return length;
  });
  return { width: width!, height: height! };
}

function parseMargin(margin: unknown): PageSettings['margin'] {
  const path = 'settings.page.margin';
  if (!isObject(margin)) {
    const length = parseLength(margin, path);
    return { top: length, right: length, bottom: length, left: length };
  }
  const unknown = Object.keys(margin).find((key) => !SIDES.some((side) => side === key));
  if (unknown !== undefined) throw invalid(`${path}.${unknown}`, 'is unknown');
  const [top, right, bottom, left] = SIDES.map((side) =>
    parseLength(margin[side] ?? DEFAULT_MARGIN, `${path}.${side}`),
  ) as [string, string, string, string];
  return { top, right, bottom, left };
}

/** Returns a CSS length with its unit. */
function parseLength(value: unknown, path: string): string {
  if (value === 0 || value === '0') return '0mm';
  const isLength = typeof value === 'string' && /^\d{1,5}(\.\d{1,4})?(mm|cm|in|pt|pc|px)$/.test(value);
  if (!isLength) throw invalid(path, 'must be a CSS length in mm, cm, in, pt, pc or px, e.g. 20mm');
  return value;
}

const toMm = (length: string): number => {
  const unit = length.slice(-2);
  return Number(length.slice(0, -2)) * MM_PER_UNIT[unit]!;
};

/** Throws unless the margins leave a part of the page. */
function checkFits({ size, landscape, margin }: PageSettings): void {
  const upright = typeof size === 'string' ? PAPER_MM[size] : ([toMm(size.width), toMm(size.height)] as const);
  const [width, height] = landscape ? [upright[1], upright[0]] : upright;
  const isTooWide = toMm(margin.left) + toMm(margin.right) >= width;
  if (isTooWide || toMm(margin.top) + toMm(margin.bottom) >= height)
    throw invalid('settings.page.margin', 'must be smaller than the page');
}

import { isObject } from '../../core/criteria/value.ts';
import { invalid } from '../../core/input-checks.ts';
import { inchesOf, measurePage, PAPER_SIZES, type PageSettings } from '../../core/pdf-printer.ts';

const SIDES = ['top', 'right', 'bottom', 'left'] as const;
const DEFAULT_MARGIN = '20mm';
const PAGE_KEYS = ['size', 'landscape', 'margin'];

/** The default page of settings. */
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
  const settings = { size, landscape, margin };
  measurePage(settings, (key, text) => {
    throw invalid(`settings.page.${key}`, text);
  });
  return settings;
}

function parseSize(size: unknown): PageSettings['size'] {
  const path = 'settings.page.size';
  const named = PAPER_SIZES.find((name) => name === size);
  if (named) return named;
  if (!isObject(size)) throw invalid(path, `must be one of ${PAPER_SIZES.join(', ')}, or {width, height}`);
  const unknown = Object.keys(size).find((key) => key !== 'width' && key !== 'height');
  if (unknown !== undefined) throw invalid(`${path}.${unknown}`, 'is unknown');
  return {
    width: parseLength(size['width'], `${path}.width`),
    height: parseLength(size['height'], `${path}.height`),
  };
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
  if (typeof value !== 'string' || inchesOf(value) === null)
    throw invalid(path, 'must be a CSS length in mm, cm, in, pt, pc or px, e.g. 20mm');
  return value;
}

import type { Caller } from './fair-gate.ts';

/** Names of paper sizes. */
export const PAPER_SIZES = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;

/** Width and height of upright paper, in inches. */
const PAPER_INCHES: Readonly<Record<(typeof PAPER_SIZES)[number], readonly [width: number, height: number]>> = {
  A3: [297 / 25.4, 420 / 25.4],
  A4: [210 / 25.4, 297 / 25.4],
  A5: [148 / 25.4, 210 / 25.4],
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
};

/** Bounds of a side of a page, in inches: 10 mm and 2 m. */
const MIN_SIDE = 10 / 25.4;
const MAX_SIDE = 2000 / 25.4;
/** Minimum width and height of the part of a page within its margins, in inches. */
const MIN_AREA = 0.1;

/** Media types of letterheads. */
export const LETTERHEAD_TYPES = ['application/pdf', 'image/png', 'image/jpeg', 'image/svg+xml'] as const;

/** Maximum size of a printed PDF, in bytes. */
export const MAX_PDF_BYTES = 50_000_000;

/** Inches of absolute CSS units. */
const INCHES: Readonly<Record<string, number>> = {
  mm: 1 / 25.4,
  cm: 1 / 2.54,
  q: 1 / 101.6,
  in: 1,
  pc: 1 / 6,
  pt: 1 / 72,
  px: 1 / 96,
};

/** Returns an absolute CSS length in inches, e.g. 0.5 for `12.7mm`; null for any other text. Only 0 needs no unit. */
export function inchesOf(length: string): number | null {
  const [, digits, unit] = /^(\d{1,5}(?:\.\d{1,6})?|\.\d{1,6})(mm|cm|q|in|pc|pt|px)?$/i.exec(length.trim()) ?? [];
  if (digits === undefined) return null;
  if (unit === undefined) return Number(digits) === 0 ? 0 : null;
  return Number(digits) * INCHES[unit.toLowerCase()]!;
}

/** The measures of a page, in inches. `width` and `height` are the measures of the upright page. */
export interface PageMeasures {
  width: number;
  height: number;
  margin: Record<keyof PageSettings['margin'], number>;
}

/**
 * Returns the measures of a page. Calls `fail`, which throws, with the key of an impossible setting and its valid
 * values.
 */
export function measurePage(
  { size, landscape, margin }: PageSettings,
  fail: (key: string, text: string) => never,
): PageMeasures {
  const measure = (key: string, length: string): number =>
    inchesOf(length) ?? fail(key, 'must be a CSS length in mm, cm, in, pt, pc or px, e.g. 20mm');
  const side = (key: 'width' | 'height', length: string): number => {
    const inches = measure(`size.${key}`, length);
    if (inches < MIN_SIDE - ROUNDING || inches > MAX_SIDE + ROUNDING) fail(`size.${key}`, 'must be 10mm to 2000mm');
    return inches;
  };
  const sides =
    typeof size === 'string'
      ? Object.hasOwn(PAPER_INCHES, size)
        ? PAPER_INCHES[size]
        : fail('size', `must be one of ${PAPER_SIZES.join(', ')}`)
      : ([side('width', size.width), side('height', size.height)] as const);
  // A size can be wide without `landscape`, too.
  const [width, height] = landscape ? [Math.min(...sides), Math.max(...sides)] : sides;
  const [top, right, bottom, left] = (['top', 'right', 'bottom', 'left'] as const).map((key) =>
    measure(`margin.${key}`, margin[key]),
  ) as [number, number, number, number];
  const [across, down] = landscape ? [height, width] : [width, height];
  if (left + right > across - MIN_AREA || top + bottom > down - MIN_AREA)
    fail('margin', 'must be smaller than the page');
  return { width, height, margin: { top, right, bottom, left } };
}

/** Tolerance of measures, in inches. */
const ROUNDING = 1e-6;

/** Called with true before the browser or its fonts are unpacked, with false afterwards. */
export type OnUnpack = (isUnpacking: boolean) => void;

/** A document to print. */
export interface PdfDocument {
  /** The caller that it is printed for. Callers share the browser fairly. */
  caller: Caller;
  /** A complete page. Scripts and requests are not run; pictures are data URLs. */
  html: string;
  /** Title of a document that has none. */
  title?: string;
  /** HTML above and below the text of every page. `class="pageNumber"` and `class="totalPages"` show numbers. */
  header?: string | null;
  footer?: string | null;
  /** Page settings, which an `@page` rule of the document overrides. */
  page: PageSettings;
  /**
   * Picture or first page of a PDF that is laid under each page: as wide as the page, from its top. A part that is
   * taller than the page is cut. `contentType` is one of `LETTERHEAD_TYPES`.
   */
  letterhead?: { contentType: string; content: Uint8Array } | null;
  /** Unpacking takes seconds, once after an installation. */
  onUnpack?: OnUnpack;
  signal: AbortSignal;
}

/** Size and margins of pages. */
export interface PageSettings {
  /** Paper size, or width and height as CSS lengths. */
  size: (typeof PAPER_SIZES)[number] | { width: string; height: string };
  /** Whether the longer side is across. */
  landscape: boolean;
  /** Margins as CSS lengths, e.g. `20mm`. */
  margin: { top: string; right: string; bottom: string; left: string };
}

/** A printed document. */
export interface PrintedPdf {
  content: Uint8Array;
  /** Number of pages. */
  pages: number;
}

/** Prints HTML to PDF. */
export interface PdfPrinter {
  /**
   * Prints a document. Throws TIMEOUT after 60 s, UPSTREAM_FAILED when it takes too much memory or the browser fails,
   * UNAVAILABLE without a browser or when too many documents wait, and 413 for a PDF past `MAX_PDF_BYTES`. Throws
   * BAD_USER_INPUT for impossible page settings, a document that leaves its page or a letterhead that cannot be read,
   * and the reason of an aborted signal.
   */
  print(document: PdfDocument): Promise<PrintedPdf>;
  /** Returns the code points of all characters that the bundled fonts have. Unpacks the fonts if they are not unpacked. */
  loadCharacters(): Promise<ReadonlySet<number>>;
  close(): Promise<void>;
}

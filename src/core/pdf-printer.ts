import type { Caller } from './fair-gate.ts';

/** Names of paper sizes. */
export const PAPER_SIZES = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;

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

/** A document to print. */
export interface PdfDocument {
  /** On whose behalf it is printed. Callers share the browser fairly. */
  caller: Caller;
  /** A complete page. Scripts and requests are not run; pictures are data URLs. */
  html: string;
  /** HTML above and below the text of every page. `class="pageNumber"` and `class="totalPages"` show numbers. */
  header?: string | null;
  footer?: string | null;
  /** Page settings, which an `@page` rule of the document overrides. */
  page: PageSettings;
  /**
   * Picture or first page of a PDF that is laid under each page: as wide as the page, from its top. What is taller than
   * the page is cut. `contentType` is one of `LETTERHEAD_TYPES`.
   */
  letterhead?: { contentType: string; content: Uint8Array } | null;
  signal: AbortSignal;
}

/** Size and margins of pages. */
export interface PageSettings {
  /** Paper size, or width and height as CSS lengths. */
  size: (typeof PAPER_SIZES)[number] | { width: string; height: string };
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
   * UNAVAILABLE without a browser or when too many documents wait, 413 for a PDF past `MAX_PDF_BYTES`, BAD_USER_INPUT for
   * impossible page settings, a document that leaves its page or a letterhead that cannot be read, and the reason of an
   * aborted signal.
   */
  print(document: PdfDocument): Promise<PrintedPdf>;
  close(): Promise<void>;
}

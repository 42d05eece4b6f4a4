import type { Caller } from './fair-gate.ts';

/** Names of paper sizes. */
export const PAPER_SIZES = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;

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
  /** Picture or PDF that is laid under each page. */
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
   * UNAVAILABLE without a browser or when too many documents wait, 413 for a PDF past 50 MB, BAD_USER_INPUT for a letterhead
   * that cannot be read, and the reason of an aborted signal.
   */
  print(document: PdfDocument): Promise<PrintedPdf>;
  close(): Promise<void>;
}

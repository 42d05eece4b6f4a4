/** Rows must be reported at least once a second while they arrive. */
const INTERVAL_MS = 500;

/**
 * Reports the number of rows twice a second, as far as it has changed. The rows are counted one by one, because few and
 * slow rows do not fill a segment for a long time. Returns a function that stops the reports.
 */
export function reportRows(countRows: () => number, report: (rows: number) => void): () => void {
  let reported = 0;
  const timer = setInterval(() => {
    const rows = countRows();
    if (rows > reported) report((reported = rows));
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}

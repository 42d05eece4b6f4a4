const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Formats a size in bytes for display, in decimal units with at most one decimal: `1.2 MB`, `512 B`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // A value that would be printed as 1000 is printed in the next unit.
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1).replace(/\.0$/, '')} ${UNITS[unit]}`;
}

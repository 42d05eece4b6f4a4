/** Prints a Markdown table. The first column is text, the others are numbers, formatted by the caller or empty. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  console.log([line(header), line(['---', ...header.slice(1).map(() => '--:')]), ...rows.map(line)].join('\n'));
}

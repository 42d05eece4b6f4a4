import { globSync, readFileSync } from 'node:fs';

/** The text of the contract: its pages, one after the other. */
export const CONTRACT = globSync('docs/contract/*.md')
  .toSorted()
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

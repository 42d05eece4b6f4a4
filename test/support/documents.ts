import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Returns the files of the checkout that git does not ignore, those that are not committed yet included. */
export const listFiles = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file && existsSync(file));

/** Returns the anchors of a Markdown file's headings, as GitHub names them. */
export const anchorsOf = (text: string): string[] =>
  [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/**
 * Prints the test files related to uncommitted changes, one a line. A test is related when it changed itself, imports a
 * changed file directly, or shares the longest possible slug with a changed file's name: `saved-filter.ts` leads to
 * `saved-filter.test.ts` and `saved-filter-shares.test.ts`. Tests of the style and the schema are always among them.
 * Imports are not followed further, because nearly every test starts the service and so imports nearly every file.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ALWAYS = ['test/server/schema.test.ts', 'test/style.test.ts'];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
const slugOf = (file) => basename(file).replace(/(\.test)?\.[a-z]+$/, '');

const changed = [
  ...git('diff', 'HEAD', '--name-only', '--relative'),
  ...git('ls-files', '--others', '--exclude-standard'),
];
const tests = git('ls-files', '--cached', '--others', '--exclude-standard', 'test/**/*.test.ts').filter((file) =>
  existsSync(file),
);
const code = changed.filter((file) => /^(src|entities|resolvers|rest-bridge|test)\/.*\.ts$/.test(file));

/** The tests whose slug is the longest that begins the name of a changed file. */
function testsBySlug(file) {
  const words = slugOf(file).split('-');
  for (let count = words.length; count > 0; count--) {
    const slug = words.slice(0, count).join('-');
    const found = tests.filter((test) => slugOf(test) === slug || slugOf(test).startsWith(`${slug}-`));
    if (found.length) return found;
  }
  return [];
}

/** The files that a test imports by a relative path. */
const importsOf = (test) =>
  [...readFileSync(test, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path]) => join(dirname(test), path));

const isCode = new Set(code);
const related = new Set([
  ...ALWAYS.filter((file) => existsSync(file)),
  ...tests.filter((test) => isCode.has(test) || importsOf(test).some((file) => isCode.has(file))),
  ...code.flatMap(testsBySlug),
]);
if (code.length) for (const test of related) console.log(test);

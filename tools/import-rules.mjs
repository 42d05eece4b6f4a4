/** Checks which folder imports which (.dependency-cruiser.cjs) and prints for every violation what to do instead. */
import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const { output } = await cruise(['src', 'entities', 'resolvers', 'rest-bridge', 'test', 'tools'], {
  ...options,
  ruleSet: { forbidden },
  validate: true,
});
const { violations } = output.summary;

// Without @swc/core the cruiser cannot read TypeScript 7 sources, finds no imports and reports success.
const followed = output.modules.filter(
  ({ source, dependencies }) => /^(src|entities)\/.*\.ts$/.test(source) && dependencies.length > 0,
);
if (followed.length === 0) {
  console.error('No import of any source file was found: is @swc/core installed?');
  process.exit(1);
}
for (const { from, to, rule } of violations) {
  console.error(`${from} imports ${to}: ${rule.name}. ${forbidden.find(({ name }) => name === rule.name).comment}`);
}
console.log(`${followed.length} modules, ${violations.length} forbidden imports`);
process.exitCode = violations.length ? 1 : 0;

import { pathToFileURL } from 'node:url';
import { CHECKOUT, currentBuild } from './built-service.ts';

const BUILT = currentBuild();
const ROOT = pathToFileURL(`${CHECKOUT}/`).href;

/**
 * Replaces `programBeside` of src/adapters/process/program.ts: a service in a process of tests starts the compiled programs,
 * as in production, which takes less than the sources, whose types Node strips at each start. If the build is older than a
 * source, it starts the sources.
 */
export function programBeside(module: string, name: string): URL {
  const source = new URL(`./${name}.ts`, module);
  if (BUILT === null || !source.href.startsWith(ROOT)) return source;
  return new URL(source.href.slice(ROOT.length).replace(/\.ts$/, '.js'), pathToFileURL(`${BUILT}/`));
}

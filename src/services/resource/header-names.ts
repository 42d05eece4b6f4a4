import { invalid } from '../../core/input-checks.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers of the connection and of the body's size, which the client sets, and the service's own. */
const OWN_HEADER =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|proxy-.*|x-dws-.*)$/i;

/** Throws BAD_USER_INPUT below `path` unless users may set request headers of these names, each once. */
export function checkHeaderNames(names: readonly string[], path: string): void {
  const wrong = names.find((name) => !HEADER_NAME.test(name));
  if (wrong !== undefined) throw invalid(path, `has the invalid name ${JSON.stringify(wrong)}`);
  const own = names.find((name) => OWN_HEADER.test(name));
  if (own !== undefined) throw invalid(`${path}.${own}`, 'is a header that the service sets itself');
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) throw invalid(`${path}.${name}`, 'is given twice');
    seen.add(name.toLowerCase());
  }
}

import { invalid } from '../../core/input-checks.ts';

/** Maximum number of inputs, and of processors, of one template. */
export const MAX_PARTS = 50;

/** Names that documents use for something else: the service's own, and the globals and keywords of nunjucks. */
const RESERVED = new Set(
  (
    'inputs data user template now asset page pages ' +
    'range cycler joiner loop caller super self varargs kwargs true false none null undefined ' +
    'and or not in is if else elif elseif endif for endfor asyncEach endeach asyncAll endall ' +
    'macro endmacro set endset block endblock extends include import from as call endcall ' +
    'filter endfilter raw endraw verbatim endverbatim switch case default endswitch with without context ignore missing ' +
    '__proto__ prototype constructor hasOwnProperty toString valueOf'
  ).split(' '),
);

/**
 * Throws BAD_USER_INPUT for a name that is reserved, or used by another input or processor of the template. `list` is
 * the key of the list, `names` are the names of its items, `others` the names in the other list.
 */
export function checkNames(
  list: 'inputs' | 'processors',
  names: readonly string[],
  others: readonly { name: string }[],
): void {
  const taken = new Set(others.map(({ name }) => name));
  for (const [index, name] of names.entries()) {
    const path = `${list}.${index}.name`;
    if (RESERVED.has(name)) throw invalid(path, `must not be ${name}, which has another meaning in documents`);
    if (taken.has(name)) throw invalid(path, `must be unique among inputs and processors: ${name}`);
    taken.add(name);
  }
}

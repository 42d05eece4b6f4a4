import { and, not, or } from './build.ts';
import { parsePortableRegex, type PortableRegex } from './regex.ts';
import { ALL, NONE, type CriteriaNode, type CriteriaValue } from './tree.ts';
import { isCut } from './value.ts';

/**
 * Returns criteria that match only rows which the given ones would match if texts were compared as a whole. Of a text
 * with more than 8,000 characters only the beginning is compared. A condition may then be true for the beginning and
 * false for the whole, or the reverse. Such a condition selects nothing. `isNegated` states whether the criteria are
 * inside a `not`.
 */
export function onlyDecided(node: CriteriaNode, isNegated = false): CriteriaNode {
  switch (node.kind) {
    case 'and':
      return and(node.nodes.map((inner) => onlyDecided(inner, isNegated)));
    case 'or':
      return or(node.nodes.map((inner) => onlyDecided(inner, isNegated)));
    case 'not':
      return not(onlyDecided(node.node, !isNegated));
    default:
      if (node.field.type !== 'text' || isDecided(node, isNegated)) return node;
      return isNegated ? ALL : NONE;
  }
}

type Leaf = Exclude<CriteriaNode, { kind: 'and' | 'or' | 'not' }>;

/** Returns whether a condition on the beginning of a text selects only rows that it would select for the whole. */
function isDecided(leaf: Leaf, isNegated: boolean): boolean {
  switch (leaf.kind) {
    case 'missing':
      return true;
    case 'regex':
      return !isNegated && !hasEnd(parsePortableRegex(leaf.source));
    case 'in':
      return isNegated || !leaf.values.some(mayBeCut);
    case 'compare':
      return (isNegated && leaf.op === 'eq') || !mayBeCut(leaf.value);
  }
}

const mayBeCut = (value: CriteriaValue): boolean => isCut(String(value));

/** Returns whether a pattern depends on the end of a text. */
function hasEnd(regex: PortableRegex): boolean {
  switch (regex.kind) {
    case 'set':
      return false;
    case 'repeat':
      return hasEnd(regex.node);
    case 'sequence':
    case 'alternatives':
      return regex.nodes.some(hasEnd);
    default:
      return regex.kind === 'end';
  }
}

import type { Field } from '../fields.ts';
import { NONE } from './tree.ts';
import type { CriteriaNode, CriteriaValue } from './tree.ts';

type Group = 'and' | 'or';
type Membership = { field: Field; values: CriteriaValue[] };

/** Combines nodes by AND. Without nodes all rows match. */
export const and = (nodes: CriteriaNode[]): CriteriaNode => combine('and', nodes);

/** Combines nodes by OR. Without nodes no row matches. */
export const or = (nodes: CriteriaNode[]): CriteriaNode => combine('or', nodes);

/**
 * Returns the negation, with `not` pushed down to the leaves: indexes limit how deep conditions nest, and two-valued
 * nodes obey De Morgan's laws.
 */
export function not(node: CriteriaNode): CriteriaNode {
  switch (node.kind) {
    case 'and':
      return or(node.nodes.map(not));
    case 'or':
      return and(node.nodes.map(not));
    case 'not':
      return node.node;
    default:
      return { kind: 'not', node };
  }
}

/** Returns a node that is true when the field's value is one of `values`. */
export function oneOf(field: Field, values: CriteriaValue[]): CriteriaNode {
  const distinct = [...new Set(values)];
  if (distinct.length === 0) return NONE;
  return distinct.length === 1
    ? { kind: 'compare', field, op: 'eq', value: distinct[0]! }
    : { kind: 'in', field, values: distinct };
}

function combine(kind: Group, nodes: CriteriaNode[]): CriteriaNode {
  const flat: CriteriaNode[] = [];
  for (const node of nodes) {
    if (node.kind === kind) for (const inner of node.nodes) flat.push(inner);
    // An empty group of the other kind decides the result: "or everything", "and nothing".
    else if (isGroup(node) && node.nodes.length === 0) return node;
    else flat.push(node);
  }
  const folded = foldMemberships(kind, flat);
  return folded.length === 1 ? folded[0]! : { kind, nodes: folded };
}

const isGroup = (node: CriteriaNode): node is Extract<CriteriaNode, { kind: Group }> =>
  node.kind === 'and' || node.kind === 'or';

/**
 * Folds `a = 1 or a = 2` into `a in (1, 2)`, and `a != 1 and a != 2` into its negation. An index evaluates one
 * membership far faster than many comparisons.
 */
function foldMemberships(kind: Group, nodes: CriteriaNode[]): CriteriaNode[] {
  const groups = new Map<Field, CriteriaValue[]>();
  const slots = nodes.map((node): CriteriaNode | Membership | undefined => {
    const found = kind === 'or' ? membership(node) : node.kind === 'not' ? membership(node.node) : undefined;
    if (!found) return node;
    const values = groups.get(found.field);
    if (values) {
      for (const value of found.values) values.push(value);
      return undefined;
    }
    const first = { field: found.field, values: [...found.values] };
    groups.set(first.field, first.values);
    return first;
  });
  return slots
    .filter((slot) => slot !== undefined)
    .map((slot) => {
      if ('kind' in slot) return slot;
      const folded = oneOf(slot.field, slot.values);
      return kind === 'or' ? folded : not(folded);
    });
}

function membership(node: CriteriaNode): Membership | undefined {
  if (node.kind === 'in') return node;
  return node.kind === 'compare' && node.op === 'eq' ? { field: node.field, values: [node.value] } : undefined;
}

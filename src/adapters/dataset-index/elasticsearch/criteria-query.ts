import type { estypes } from '@elastic/elasticsearch';
import { and, not, or } from '../../../core/criteria/build.ts';
import { toLucene } from '../../../core/criteria/regex-lucene.ts';
import { parsePortableRegex } from '../../../core/criteria/regex.ts';
import type { CriteriaNode, CriteriaValue } from '../../../core/criteria/tree.ts';
import type { IndexedField } from '../../../core/dataset-index.ts';
import type { Field } from '../../../core/fields.ts';
import { numberKey } from '../number-key.ts';
import { exactKey } from './exact-key.ts';
import { layoutOf } from './field-layout.ts';

export type Query = estypes.QueryDslQueryContainer;

/**
 * Maximum effort of all regular expressions of a query, as Lucene counts it when it builds automata: twice its default. A unit
 * costs some 300 bytes of the engine's memory, and a few microseconds of a thread, which the engine does not stop.
 */
const REGEX_EFFORT = 20_000;

type Leaf = Exclude<CriteriaNode, { kind: 'and' | 'or' | 'not' }>;

/** A query with its nesting depth: the engine rejects more than 30 levels. */
interface Nested {
  query: Query;
  levels: number;
}

/** Compiles criteria to a query that is true or false for every document. */
export function criteriaQuery(node: CriteriaNode, indexed: (field: Field) => IndexedField): Query {
  const pushed = pushDown(node);
  const effort = Math.floor(REGEX_EFFORT / Math.max(1, countRegexes(pushed)));
  return nested(pushed, (leaf) => leafQuery(leaf, indexed(leaf.field), effort)).query;
}

/** Pushes `not` down to the leaves, so that groups alternate. */
function pushDown(node: CriteriaNode): CriteriaNode {
  switch (node.kind) {
    case 'and':
      return and(node.nodes.map(pushDown));
    case 'or':
      return or(node.nodes.map(pushDown));
    case 'not':
      return not(pushDown(node.node));
    default:
      return node;
  }
}

function countRegexes(node: CriteriaNode): number {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.nodes.reduce((sum, inner) => sum + countRegexes(inner), 0);
    case 'not':
      return countRegexes(node.node);
    default:
      return node.kind === 'regex' ? 1 : 0;
  }
}

function nested(node: CriteriaNode, leafOf: (leaf: Leaf) => Query): Nested {
  switch (node.kind) {
    case 'and':
      return allOf(node.nodes, leafOf);
    case 'or':
      return bool({ should: node.nodes.map((inner) => nested(inner, leafOf)) });
    case 'not':
      return node.node.kind === 'missing'
        ? bool({ filter: [{ query: leafOf(node.node), levels: 1 }] })
        : bool({ must_not: [nested(node.node, leafOf)] });
    default:
      return node.kind === 'missing'
        ? bool({ must_not: [{ query: leafOf(node), levels: 1 }] })
        : { query: leafOf(node), levels: 1 };
  }
}

/**
 * Combines all nodes. One query contains both an `and` and one `or` below it, the deepest one. Alternating groups then
 * nest half as deep as they are written. Where two groups are equally deep, they nest deeper, which doubles the
 * conditions each time.
 */
function allOf(nodes: CriteriaNode[], leafOf: (leaf: Leaf) => Query): Nested {
  const groups = nodes.map((node) =>
    node.kind === 'or' ? node.nodes.map((inner) => nested(inner, leafOf)) : [nested(node, leafOf)],
  );
  const depths = groups.map((group, i) => (nodes[i]!.kind === 'or' ? deepest(group) : 0));
  const inlined = depths.indexOf(Math.max(0, ...depths));
  const filter = groups.flatMap((group, i) =>
    nodes[i]!.kind !== 'or' ? group : i === inlined ? [] : [bool({ should: group })],
  );
  return bool(nodes[inlined]?.kind === 'or' ? { filter, should: groups[inlined]! } : { filter });
}

const deepest = (group: readonly Nested[]): number => Math.max(0, ...group.map(({ levels }) => levels));

interface Clauses {
  filter?: Nested[];
  should?: Nested[];
  must_not?: Nested[];
}

function bool({ filter = [], should, must_not = [] }: Clauses): Nested {
  const levels = 1 + deepest([...filter, ...(should ?? []), ...must_not]);
  if (should?.length === 0) return { query: { match_none: {} }, levels: 1 };
  const queries = (group: Nested[]) => group.map(({ query }) => query);
  const query = {
    bool: {
      ...(filter.length > 0 && { filter: queries(filter) }),
      ...(should && { should: queries(should), minimum_should_match: 1 }),
      ...(must_not.length > 0 && { must_not: queries(must_not) }),
    },
  };
  return Object.keys(query.bool).length === 0 ? { query: { match_all: {} }, levels: 1 } : { query, levels };
}

/** A missing value fails every query except the `missing` query, which is compiled as the query of a present value. */
function leafQuery(leaf: Leaf, field: IndexedField, effort: number): Query {
  const { compared, listed } = layoutOf(field);
  switch (leaf.kind) {
    case 'missing':
      return { exists: { field: compared } };
    case 'in':
      return { terms: { [listed]: leaf.values.map((value) => operand(field, value)) } };
    case 'compare': {
      const value = operand(field, leaf.value);
      return leaf.op === 'eq' ? { term: { [listed]: value } } : { range: { [compared]: { [leaf.op]: value } } };
    }
    case 'regex': {
      const value = toLucene(parsePortableRegex(leaf.source), leaf.insensitive);
      return value === null
        ? { match_none: {} }
        : { regexp: { [compared]: { value, flags: 'NONE', max_determinized_states: effort } } };
    }
  }
}

/** Converts the operand of a comparison to the form of the field's `compared`. Doubles have two zeros. */
function operand({ type, format, keyed }: IndexedField, value: CriteriaValue): CriteriaValue {
  if (format === 'int64') return exactKey(BigInt(value));
  if (keyed) return numberKey(String(value));
  return type === 'integer' || type === 'number' ? Number(value) + 0 : value;
}

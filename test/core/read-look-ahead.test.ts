import { execute, parse, type GraphQLResolveInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import { lookAhead } from '../../src/core/read/look-ahead.ts';
import { selectPaths, type Selection } from '../../src/core/read/selection.ts';
import { infoOf, job, schema } from './read-models.ts';

/** Prints a selection as `name owner(id name)`. */
const print = ({ columns, relations }: Selection): string =>
  [...columns, ...relations.map(([name, related]) => `${name}(${print(related)})`)].join(' ');

const selected = (source: string): string => print(lookAhead(infoOf(source), job).selection);

describe('look-ahead', () => {
  test('selects the requested columns, with id and version', () => {
    expect(selected('{ job { name } }')).toBe('id name version');
  });

  test('merges repeated fields, fragments and inline fragments', () => {
    const source = `
      {
        job { owner { name } ...A ... on Job { data } ... on Person { label } }
        job { steps { id } }
      }
      fragment A on Node { id ... on Job { owner { id } steps { title } } }
    `;
    expect(selected(source)).toBe('data id version owner(id name) steps(id title)');
  });

  test('ignores directives, so that the selection does not depend on variables', () => {
    const source = 'query ($no: Boolean = false) { job { name @include(if: $no) ... @skip(if: true) { data } } }';
    expect(selected(source)).toBe('data id name version');
  });

  test('reads the selection below a page, and which fields of the page are selected', () => {
    const source = '{ jobs { total __typename ...P } } fragment P on JobPage { items { name } items { data } }';
    const { selection, pageFields } = lookAhead(infoOf(source), job, 'items');
    expect(print(selection)).toBe('data id name version');
    expect([...pageFields].toSorted()).toEqual(['__typename', 'items', 'total']);
  });

  test('adds what computed fields require by the model or by their resolver', () => {
    expect(selected('{ job { label } }')).toBe('data id version owner(id name)');
    expect(selected('{ job { owner { label } } }')).toBe('id version owner(id name)');
  });

  test('reads an interface as the type of the model', () => {
    expect(selected('{ node { id ... on Job { name } ... on Step { title } } }')).toBe('id name version');
  });

  test('does not join pages and lists with arguments', () => {
    expect(selected('{ job { latest { id } stepPage { items { id } } } }')).toBe('id version');
  });

  test('visits a parsed document once', () => {
    const document = parse('{ job { name owner { name } } }');
    const infos: GraphQLResolveInfo[] = [];
    for (let i = 0; i < 2; i++)
      void execute({ schema, document, fieldResolver: (_source, _args, _context, info) => void infos.push(info) });
    expect(lookAhead(infos[0]!, job)).toBe(lookAhead(infos[1]!, job));
  });

  test('returns the same object for equal selections of different documents', () => {
    const { selection } = lookAhead(infoOf('{ job { name data } }'), job);
    expect(lookAhead(infoOf('{ a: job { data other: name name } }'), job).selection).toBe(selection);
    expect(selectPaths(job, ['name', 'data'])).toBe(selection);
  });

  test('throws for a required name that the model does not have', () => {
    expect(() => selectPaths(job, ['nonsense'])).toThrow('Job has neither a column nor a relation "nonsense"');
  });
});

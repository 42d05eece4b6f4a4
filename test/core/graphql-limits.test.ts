import { buildSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/core/errors.ts';
import { checkLimits, parseLimited } from '../../src/core/limits/limits.ts';

const schema = buildSchema(`
  interface Named { name: String owner: User }
  type User implements Named { id: ID name: String owner: User friends: [User!]! }
  type Job implements Named { id: ID name: String owner: User actions: [Action!]! runs(limit: Int = 20): [Run!]! parent: Job }
  type Action { id: ID name: String job: Job! }
  type Run { id: ID }
  type JobPage { items: [Job!]! total: Int start: Int }
  union Hit = Job | User
  type Query { job(id: ID): Job jobs(limit: Int, start: Int): JobPage! users(limit: Int): [User!]! search: [Hit!]! }
`);

const costOf = (source: string, variables?: Record<string, unknown>, name?: string) =>
  checkLimits(parse(source), schema, variables, name).cost;
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
};
/** `{ job { parent { parent { … id } } } }`, this many fields deep. */
const deep = (levels: number) => `{ job${' { parent'.repeat(levels - 2)} { id }${' }'.repeat(levels - 2)} }`;

describe('cost', () => {
  test('is one for an object and nothing for scalars', () => {
    expect(costOf('{ job { id name owner { id name } } }')).toBe(2);
  });

  test('counts a list as often as its limit says, literal, variable or default', () => {
    expect(costOf('{ users(limit: 7) { id } }')).toBe(7);
    expect(costOf('query ($n: Int) { users(limit: $n) { id } }', { n: 8 })).toBe(8);
    expect(costOf('query ($n: Int = 9) { users(limit: $n) { id } }')).toBe(9);
    expect(costOf('{ job { runs { id } } }')).toBe(1 + 20);
    expect(costOf('query ($n: Int) { job { runs(limit: $n) { id } } }')).toBe(1 + 20);
  });

  test('counts a list as ten when nothing says its length, or says it wrongly', () => {
    expect(costOf('{ users { id } }')).toBe(10);
    expect(costOf('{ users(limit: null) { id } }')).toBe(10);
    expect(costOf('query ($n: Int) { users(limit: $n) { id } }', { n: -1_000_000 })).toBe(10);
    expect(costOf('query ($n: Int) { users(limit: $n) { id } }', { n: 'many' })).toBe(10);
    expect(costOf('{ users(limit: -5) { friends { id } } }')).toBe(10 * (1 + 10));
  });

  test('hands the limit of a page to its items, also through fragments', () => {
    const page = 1 + 30 * (1 + 1 + 10);
    expect(costOf('{ jobs(limit: 30) { total items { id owner { id } actions { id } } } }')).toBe(page);
    expect(
      costOf(
        '{ jobs(limit: 30) { ...P } } fragment P on JobPage { items { ...J } } fragment J on Job { owner { id } ... on Named { name } actions { id } }',
      ),
    ).toBe(page);
    expect(costOf('{ jobs { items { id } } }')).toBe(1 + 10);
  });

  test('counts a fragment at each of its spreads with the limit that rules there', () => {
    const source =
      'query ($n: Int) { a: jobs(limit: $n) { ...P } b: jobs(limit: 2) { ...P } } fragment P on JobPage { items { id } }';
    const document = parse(source);
    expect(checkLimits(document, schema, { n: 5 }).cost).toBe(1 + 5 + 1 + 2);
    expect(checkLimits(document, schema, { n: 100 }).cost).toBe(1 + 100 + 1 + 2);
  });

  test('adds up the members of a union', () => {
    expect(costOf('{ search { ... on Job { owner { id } } ... on User { owner { id } } } }')).toBe(10 * 3);
  });

  test('is of the operation that is run', () => {
    expect(costOf('query A { job { id } } query B { users(limit: 4) { id } }', {}, 'B')).toBe(4);
  });

  test('past 50 000 is refused, by the variables as well as by the text', () => {
    expect(refusal(() => costOf('{ users(limit: 50000) { id } }'))).toBe('accepted');
    expect(refusal(() => costOf('{ users(limit: 50001) { id } }'))).toBe(
      '400 GRAPHQL_LIMIT The operation costs 50001, more than 50000',
    );
    expect(refusal(() => costOf('query ($n: Int) { users(limit: $n) { friends { id } } }', { n: 10_000 }))).toContain(
      '400 GRAPHQL_LIMIT',
    );
  });
});

describe('depth and breadth', () => {
  test('fifteen levels pass, sixteen do not, wherever fragments cut them', () => {
    expect(refusal(() => costOf(deep(15)))).toBe('accepted');
    expect(refusal(() => costOf(deep(16)))).toBe('400 GRAPHQL_LIMIT The operation is deeper than 15 levels');
    const half = `fragment A on Job ${'{ parent '.repeat(8)}{ ...B }${' }'.repeat(8)} fragment B on Job ${'{ parent '.repeat(6)}{ id }${' }'.repeat(6)}`;
    expect(refusal(() => costOf(`{ job { ...B } } ${half}`))).toBe('accepted');
    expect(refusal(() => costOf(`{ job { ...A } } ${half}`))).toContain('deeper than 15');
  });

  test('tools can introspect, endless introspection is refused', () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      directiveIsRepeatable: true,
      inputValueDeprecation: true,
      oneOf: true,
      schemaDescription: true,
      specifiedByUrl: true,
    });
    expect(refusal(() => costOf(query))).toBe('accepted');
    expect(refusal(() => costOf(`{ __type(name: "Job") ${'{ ofType '.repeat(16)}{ name }${' }'.repeat(16)} }`))).toBe(
      'accepted',
    );
    expect(
      refusal(() => costOf(`{ __type(name: "Job") ${'{ ofType '.repeat(17)}{ name }${' }'.repeat(17)} }`)),
    ).toContain('deeper than 18');
    expect(
      refusal(() => costOf(`{ __schema { types ${'{ fields { type '.repeat(5)}{ name }${' } }'.repeat(5)} } }`)),
    ).toContain('costs');
  });

  test('fifty aliases of one field pass, one more does not, also spread over fragments', () => {
    const names = (n: number, prefix = 'a') => Array.from({ length: n }, (_, i) => `${prefix}${i}: name`).join(' ');
    expect(refusal(() => costOf(`{ job { name id ${names(50)} } }`))).toBe('accepted');
    expect(refusal(() => costOf(`{ job { ${names(51)} } }`))).toBe(
      '400 GRAPHQL_LIMIT The operation has more than 50 aliases of the field "name"',
    );
    expect(
      refusal(() => costOf(`{ job { ${names(30)} ...F } } fragment F on Job { ... on Named { ${names(21, 'b')} } }`)),
    ).toContain('more than 50 aliases');
  });

  test('the same field in many fragments is no alias', () => {
    const spreads = Array.from({ length: 60 }, (_, i) => i);
    expect(
      refusal(() =>
        costOf(
          `{ job { ${spreads.map((i) => `...F${i}`).join(' ')} } } ${spreads.map((i) => `fragment F${i} on Job { id name }`).join(' ')}`,
        ),
      ),
    ).toBe('accepted');
  });

  test('thirty root fields pass, one more does not', () => {
    const roots = (n: number) => `{ ${'job { id } '.repeat(n)} }`;
    expect(refusal(() => costOf(roots(30)))).toBe('accepted');
    expect(refusal(() => costOf(roots(31)))).toBe('400 GRAPHQL_LIMIT The operation has more than 30 root fields');
    expect(
      refusal(() => costOf(`{ ${'job { id } '.repeat(16)} ...R } fragment R on Query { ${'job { id } '.repeat(15)} }`)),
    ).toContain('root fields');
  });
});

describe('hostile documents cost a bounded time', () => {
  test('a fragment that doubles a hundred times is computed once a fragment and refused', () => {
    const bomb = Array.from(
      { length: 100 },
      (_, i) => `fragment F${i} on Job { owner { id } ...F${i + 1} ...F${i + 1} }`,
    ).join(' ');
    expect(refusal(() => costOf(`{ job { ...F0 } } ${bomb} fragment F100 on Job { owner { id } }`))).toContain(
      '400 GRAPHQL_LIMIT',
    );
    const roots = Array.from({ length: 100 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`).join(
      ' ',
    );
    expect(refusal(() => costOf(`{ ...F0 } ${roots} fragment F100 on Query { job { id } }`))).toContain('root fields');
  });

  test('cycles of fragments end; validation refuses them', () => {
    const cycle = parse(
      '{ job { ...A } } fragment A on Job { parent { ...B } } fragment B on Job { parent { ...A } id }',
    );
    expect(checkLimits(cycle, schema).cost).toBe(3);
    expect(validate(schema, cycle).map(({ message }) => message)).toContain(
      'Cannot spread fragment "A" within itself via "B".',
    );
  });

  test('what the schema does not know is left to validation', () => {
    expect(costOf('{ nothing { id } job { nothing { id } ...Missing } ...on Nowhere { x { y } } }')).toBe(1);
  });

  test('more than 10 000 tokens are not parsed', () => {
    expect(parseLimited(`{ ${'a '.repeat(9998)}}`).definitions).toHaveLength(1);
    expect(refusal(() => parseLimited(`{ ${'a '.repeat(9999)}}`))).toBe(
      '400 GRAPHQL_LIMIT The document has more than 10000 tokens',
    );
  });

  test('nesting as deep as the tokens allow is refused without exhausting the stack', () => {
    expect(refusal(() => checkLimits(parseLimited(`${'{a'.repeat(3333)}${'}'.repeat(3333)}`), schema))).toContain(
      '400 GRAPHQL_LIMIT',
    );
    expect(refusal(() => parseLimited(`{ job ${'{ ...'.repeat(2400)} { id }${'}'.repeat(2400)} }`))).toBe(
      '400 GRAPHQL_LIMIT The document is nested too deeply',
    );
    expect(
      refusal(() => checkLimits(parseLimited(`{ job ${'{ ...'.repeat(500)} { id }${'}'.repeat(500)} }`), schema)),
    ).toBe('accepted');
    const chain = Array.from({ length: 1200 }, (_, i) => `fragment F${i} on Job { ...F${i + 1} }`).join(' ');
    expect(
      refusal(() => checkLimits(parseLimited(`{ job { ...F0 } } ${chain} fragment F1200 on Job { id }`), schema)),
    ).toBe('accepted');
  });

  test('a syntax error stays one', () => {
    expect(() => parseLimited('{ job(')).toThrow('Syntax Error: Expected Name, found <EOF>.');
  });
});

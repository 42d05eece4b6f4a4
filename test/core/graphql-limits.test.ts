import { buildSchema, getIntrospectionQuery, parse, validate, type GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/core/errors.ts';
import { checkLimits, parseLimited } from '../../src/core/limits/limits.ts';
import { READS_ALL_ROWS } from '../../src/core/limits/measure-operation.ts';

const schema = buildSchema(`
  interface Named { name: String owner: User }
  type User implements Named { id: ID name: String owner: User friends: [User!]! }
  type Job implements Named {
    id: ID
    name: String
    owner: User
    actions: [Action!]!
    runs(limit: Int = 20): [Run!]!
    parent: Job
  }
  type Action { id: ID name: String job: Job! }
  type Run { id: ID seconds: Int log: [Action!]! }
  type JobPage { items: [Job!]! total: Int start: Int }
  union Hit = Job | User
  type Query { job(id: ID): Job jobs(limit: Int, start: Int): JobPage! users(limit: Int): [User!]! search: [Hit!]! }
`);

for (const name of ['seconds', 'log'])
  (schema.getType('Run') as GraphQLObjectType).getFields()[name]!.extensions = { [READS_ALL_ROWS]: true };

const costOf = (source: string, variables?: Record<string, unknown>, name?: string) =>
  checkLimits(parse(source), schema, variables, name).cost;
/** Returns status, code and message of the `ApiError` that `act` throws, or `accepted`. */
function outcomeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}
/** Checks the limits of a document. Returns `accepted` or the error. */
const check = (source: string, variables?: Record<string, unknown>): string =>
  outcomeOf(() => costOf(source, variables));
/** Repeats nested text: `nest(2, '{ a ', '{ b }')` is `{ a { a { b } } }`. */
const nest = (times: number, open: string, inner: string, close = ' }') =>
  `${open.repeat(times)}${inner}${close.repeat(times)}`;
const numbers = (length: number) => Array.from({ length }, (_, i) => i);
/** `{ job { parent { parent { … id } } } }`, this many fields deep. */
const deep = (levels: number) => `{ job${' { parent'.repeat(levels - 2)} { id }${' }'.repeat(levels - 2)} }`;

describe('cost', () => {
  test('is one for an object and nothing for scalars', () => {
    expect(costOf('{ job { id name owner { id name } } }')).toBe(2);
  });

  test('multiplies a list by its limit, as a literal, variable or default value', () => {
    expect(costOf('{ users(limit: 7) { id } }')).toBe(7);
    expect(costOf('query ($n: Int) { users(limit: $n) { id } }', { n: 8 })).toBe(8);
    expect(costOf('query ($n: Int = 9) { users(limit: $n) { id } }')).toBe(9);
    expect(costOf('{ job { runs { id } } }')).toBe(1 + 20);
    expect(costOf('query ($n: Int) { job { runs(limit: $n) { id } } }')).toBe(1 + 20);
  });

  test('is 200 more for a field that reads all rows, times the lists above it', () => {
    expect(costOf('{ job { runs(limit: 3) { seconds } } }')).toBe(1 + 3 + 3 * 200);
    expect(
      costOf('{ job { runs(limit: 1) { a: seconds log { id } ...more } } } fragment more on Run { seconds }'),
    ).toBe(1 + 1 + 200 + 200 + 10 + 200);
  });

  test('names the fields that read all rows when it is too high', () => {
    expect(check('{ jobs(limit: 1000) { items { runs { seconds } } } }')).toBe(
      '400 GRAPHQL_LIMIT The operation costs 4021001, more than 50000. Fields that read all rows cost 200 each: seconds',
    );
    expect(check('{ jobs(limit: 100000) { items { id } } }')).toBe(
      '400 GRAPHQL_LIMIT The operation costs 100001, more than 50000',
    );
  });

  test('multiplies a list by ten without a limit, and with an invalid one', () => {
    expect(costOf('{ users { id } }')).toBe(10);
    expect(costOf('{ users(limit: null) { id } }')).toBe(10);
    expect(costOf('query ($n: Int) { users(limit: $n) { id } }', { n: -1_000_000 })).toBe(10);
    expect(costOf('query ($n: Int) { users(limit: $n) { id } }', { n: 'many' })).toBe(10);
    expect(costOf('{ users(limit: -5) { friends { id } } }')).toBe(10 * (1 + 10));
  });

  test('applies the limit of a page to its items, through fragments too', () => {
    const page = 1 + 30 * (1 + 1 + 10);
    expect(costOf('{ jobs(limit: 30) { total items { id owner { id } actions { id } } } }')).toBe(page);
    expect(
      costOf(
        `{ jobs(limit: 30) { ...P } }
        fragment P on JobPage { items { ...J } }
        fragment J on Job { owner { id } ... on Named { name } actions { id } }`,
      ),
    ).toBe(page);
    expect(costOf('{ jobs { items { id } } }')).toBe(1 + 10);
  });

  test('counts a fragment at each spread, with the limit that applies there', () => {
    const source = `query ($n: Int) { a: jobs(limit: $n) { ...P } b: jobs(limit: 2) { ...P } }
      fragment P on JobPage { items { id } }`;
    const document = parse(source);
    expect(checkLimits(document, schema, { n: 5 }).cost).toBe(1 + 5 + 1 + 2);
    expect(checkLimits(document, schema, { n: 100 }).cost).toBe(1 + 100 + 1 + 2);
  });

  test('adds up the members of a union', () => {
    expect(costOf('{ search { ... on Job { owner { id } } ... on User { owner { id } } } }')).toBe(10 * 3);
  });

  test('is the cost of the operation that runs', () => {
    expect(costOf('query A { job { id } } query B { users(limit: 4) { id } }', {}, 'B')).toBe(4);
  });

  test('above 50 000 is refused, whether limits are literals or variables', () => {
    expect(check('{ users(limit: 50000) { id } }')).toBe('accepted');
    expect(check('{ users(limit: 50001) { id } }')).toBe(
      '400 GRAPHQL_LIMIT The operation costs 50001, more than 50000',
    );
    expect(check('query ($n: Int) { users(limit: $n) { friends { id } } }', { n: 10_000 })).toContain(
      '400 GRAPHQL_LIMIT',
    );
  });
});

describe('depth and breadth', () => {
  test('fifteen levels are accepted, sixteen are not, with or without fragments', () => {
    expect(check(deep(15))).toBe('accepted');
    expect(check(deep(16))).toBe('400 GRAPHQL_LIMIT The operation is deeper than 15 levels');
    const fragments = `
      fragment A on Job ${nest(8, '{ parent ', '{ ...B }')}
      fragment B on Job ${nest(6, '{ parent ', '{ id }')}`;
    expect(check(`{ job { ...B } } ${fragments}`)).toBe('accepted');
    expect(check(`{ job { ...A } } ${fragments}`)).toContain('deeper than 15');
  });

  test('introspection by tools is accepted, unlimited introspection is refused', () => {
    const query = getIntrospectionQuery({
      descriptions: true,
      directiveIsRepeatable: true,
      inputValueDeprecation: true,
      oneOf: true,
      schemaDescription: true,
      specifiedByUrl: true,
    });
    expect(check(query)).toBe('accepted');
    expect(check(`{ __type(name: "Job") ${nest(16, '{ ofType ', '{ name }')} }`)).toBe('accepted');
    expect(check(`{ __type(name: "Job") ${nest(17, '{ ofType ', '{ name }')} }`)).toContain('deeper than 18');
    expect(check(`{ __schema { types ${nest(5, '{ fields { type ', '{ name }', ' } }')} } }`)).toContain('costs');
  });

  test('fifty aliases of one field are accepted, one more is not, in fragments too', () => {
    const names = (n: number, prefix = 'a') =>
      numbers(n)
        .map((i) => `${prefix}${i}: name`)
        .join(' ');
    expect(check(`{ job { name id ${names(50)} } }`)).toBe('accepted');
    expect(check(`{ job { ${names(51)} } }`)).toBe(
      '400 GRAPHQL_LIMIT The operation has more than 50 aliases of the field "name"',
    );
    expect(check(`{ job { ${names(30)} ...F } } fragment F on Job { ... on Named { ${names(21, 'b')} } }`)).toContain(
      'more than 50 aliases',
    );
  });

  test('the same field in many fragments is not an alias', () => {
    const spreads = numbers(60).map((i) => `...F${i}`);
    const fragments = numbers(60).map((i) => `fragment F${i} on Job { id name }`);
    expect(check(`{ job { ${spreads.join(' ')} } } ${fragments.join(' ')}`)).toBe('accepted');
  });

  test('thirty root fields are accepted, one more is not', () => {
    const roots = (n: number) => `{ ${'job { id } '.repeat(n)} }`;
    expect(check(roots(30))).toBe('accepted');
    expect(check(roots(31))).toBe('400 GRAPHQL_LIMIT The operation has more than 30 root fields');
    expect(check(`{ ${'job { id } '.repeat(16)} ...R } fragment R on Query { ${'job { id } '.repeat(15)} }`)).toContain(
      'root fields',
    );
  });
});

describe('hostile documents take a limited time', () => {
  test('a hundred fragments that double each other are measured once each, and refused', () => {
    const doubling = numbers(100).map((i) => `fragment F${i} on Job { owner { id } ...F${i + 1} ...F${i + 1} }`);
    const bomb = doubling.join(' ');
    expect(check(`{ job { ...F0 } } ${bomb} fragment F100 on Job { owner { id } }`)).toContain('400 GRAPHQL_LIMIT');
    const roots = numbers(100)
      .map((i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)
      .join(' ');
    expect(check(`{ ...F0 } ${roots} fragment F100 on Query { job { id } }`)).toContain('root fields');
  });

  test('cycles of fragments end, and validation refuses them', () => {
    const cycle = parse(
      '{ job { ...A } } fragment A on Job { parent { ...B } } fragment B on Job { parent { ...A } id }',
    );
    expect(checkLimits(cycle, schema).cost).toBe(3);
    expect(validate(schema, cycle).map(({ message }) => message)).toContain(
      'Cannot spread fragment "A" within itself via "B".',
    );
  });

  test('unknown fields and types are left to validation', () => {
    expect(costOf('{ nothing { id } job { nothing { id } ...Missing } ...on Nowhere { x { y } } }')).toBe(1);
  });

  test('more than 10 000 tokens are not parsed', () => {
    expect(parseLimited(`{ ${'a '.repeat(9998)}}`).definitions).toHaveLength(1);
    expect(outcomeOf(() => parseLimited(`{ ${'a '.repeat(9999)}}`))).toBe(
      '400 GRAPHQL_LIMIT The document has more than 10000 tokens',
    );
  });

  test.each([
    ['blanks', (n: number) => `{ job { id } }${' '.repeat(n - 14)}`],
    ['a comment', (n: number) => `{ job { id } } #${'x'.repeat(n - 16)}`],
    ['a text', (n: number) => `{ job(id: "${'x'.repeat(n - 22)}") { id } }`],
    ['a name', (n: number) => `{ ${'x'.repeat(n - 4)} }`],
  ])('with %s it has 1,000,000 characters and no more', (_, document) => {
    expect(document(1_000_000)).toHaveLength(1_000_000);
    expect(outcomeOf(() => parseLimited(document(1_000_000)))).toBe('accepted');
    expect(outcomeOf(() => parseLimited(document(1_000_001)))).toBe(
      '400 GRAPHQL_LIMIT The document has more than 1000000 characters; send long values as variables',
    );
  });

  test.each([
    ['fields', (n: number) => `{ job${nest(n - 2, ' { parent', ' { id }')} }`],
    ['inline fragments', (n: number) => `{ job${nest(n - 2, ' { ...', ' { id }')} }`],
    ['lists', (n: number) => `{ job(id: ${nest(n - 2, '[', '1', ']')}) { id } }`],
    ['objects', (n: number) => `{ job(id: ${nest(n - 2, '{ a: ', '1')}) { id } }`],
    ['types', (n: number) => `query ($a: ${nest(n - 1, '[', 'Int', ']')}) { job { id } }`],
  ])('%s nest 256 levels and no deeper', (_, nested) => {
    expect(outcomeOf(() => parseLimited(nested(256)))).toBe('accepted');
    for (const levels of [257, 2400])
      expect(outcomeOf(() => parseLimited(nested(levels)))).toBe(
        '400 GRAPHQL_LIMIT The document nests more than 256 levels',
      );
  });

  test('brackets in strings and comments, and side by side, are not levels', () => {
    const brackets = '[{('.repeat(300);
    expect(
      outcomeOf(() => parseLimited(`{ job(id: "${brackets}", name: """${brackets}""") { id } } # ${brackets}`)),
    ).toBe('accepted');
    expect(outcomeOf(() => parseLimited(`{ ${'a(b: [{}]) {c} '.repeat(300)} }`))).toBe('accepted');
  });

  test('fragments that spread each other a thousand levels deep do not exhaust the stack', () => {
    const chain = numbers(1200)
      .map((i) => `fragment F${i} on Job { ...F${i + 1} }`)
      .join(' ');
    expect(
      outcomeOf(() => checkLimits(parseLimited(`{ job { ...F0 } } ${chain} fragment F1200 on Job { id }`), schema)),
    ).toBe('accepted');
  });

  test('a syntax error does not count as a limit', () => {
    expect(() => parseLimited('{ job(')).toThrow('Syntax Error: Expected Name, found <EOF>.');
  });
});

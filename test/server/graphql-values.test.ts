import { describe, expect } from 'vitest';
import { test } from '../support/fixture.ts';

type Issue = [path: string, message: string];

const print = ({ status, data, errors }: any) => ({
  status,
  data,
  code: errors[0].extensions.code,
  message: errors[0].message,
  issues: errors.flatMap(({ extensions }: any) =>
    (extensions.validation ?? []).map(({ path, message }: any) => [path.join('.'), message]),
  ),
});

const refusal = (...issues: Issue[]) => ({
  status: 400,
  data: undefined,
  code: 'BAD_USER_INPUT',
  message: issues[0]![1],
  issues,
});

describe('values that do not fit their types have a path and the words of REST', () => {
  const UPDATE = 'mutation ($changes: UpdateMeInput!) { updateMe(input: $changes) { id } }';
  const LIST = 'query ($many: Int!, $mine: Boolean) { datasets(limit: $many, favorite: $mine) { total } }';

  test('in variables, under the name of the argument that takes them', async ({ ann }) => {
    const cases: [query: string, variables: Record<string, unknown>, issues: Issue[]][] = [
      ['query ($x: Boolean!) { me @include(if: $x) { id } }', { x: null }, [['x', '"x" must not be null']]],
      [LIST, { many: null }, [['limit', '"limit" must not be null']]],
      [LIST, {}, [['limit', '"limit" is required']]],
      [
        LIST,
        { many: 'ten', mine: 'yes' },
        [
          ['limit', '"limit" must be an integer'],
          ['favorite', '"favorite" must be true or false'],
        ],
      ],
      [UPDATE, { changes: { settings: 'dark' } }, [['settings', '"settings" must be an object']]],
      [UPDATE, { changes: { settings: {}, displayname: 'x' } }, [['displayname', 'Unknown key "displayname"']]],
      [UPDATE, { changes: null }, [['', '"changes" must not be null']]],
    ];
    for (const [query, variables, issues] of cases)
      expect(print(await ann.gql(query, variables)), JSON.stringify(variables)).toEqual(refusal(...issues));
    const rest = await ann.put('/me', { settings: 'dark' });
    expect(rest.body.validation).toMatchObject([{ path: ['settings'], message: '"settings" must be an object' }]);
  });

  test('in literals of a document', async ({ ann }) => {
    const settings = await ann.gql('mutation { updateMe(input: {settings: ["dark"]}) { id } }');
    expect(print(settings)).toEqual(refusal(['settings', '"settings" must be an object']));
    expect(settings.errors[0].locations).toEqual([{ line: 1, column: 39 }]);
    const limit = await ann.gql('{ datasets(limit: "ten") { total } }');
    expect(print(limit)).toEqual(refusal(['limit', '"limit" must be an integer']));
  });

  test('after any number of calls of the same document', async ({ ann }) => {
    for (let call = 0; call < 25; call += 1) await ann.data(LIST, { many: 1 });
    expect(print(await ann.gql(LIST, { many: 'ten' }))).toEqual(refusal(['limit', '"limit" must be an integer']));
  });
});

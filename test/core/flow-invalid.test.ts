import { describe, expect, test } from 'vitest';
import { checkFlow } from '../../src/core/flow/check.ts';
import { DATE_UNITS } from '../../src/core/flow/functions.ts';
import { parseFlow } from '../../src/core/flow/parse.ts';
import { calculateX, COLUMNS, invalid, withOrder } from './flow-fixture.ts';

describe('invalid steps are refused', () => {
  test.each<[unknown, string]>([
    [{}, 'A flow is a list of steps'],
    [[null], 'Flow step 1: a step is an object with a type'],
    [
      [{ type: 'limit', n: 1 }, { type: 'pivot' }],
      'Flow step 2 (pivot): unknown step; known are filter, sort, limit, rename, remove, calculate',
    ],
    [
      [{ type: 'constructor' }],
      'Flow step 1 (constructor): unknown step; known are filter, sort, limit, rename, remove, calculate',
    ],
    [[{ type: 'limit', n: 1, m: 2 }], 'Flow step 1 (limit): unknown key "m"'],
    [[{ type: 'limit' }], 'Flow step 1 (limit): n is missing'],
    [[{ type: 'limit', n: -1 }], 'Flow step 1 (limit): n must be a whole number, at least 0'],
    [[{ type: 'sort', field: 'id', order: 'up' }], 'Flow step 1 (sort): order must be "asc" or "desc"'],
    [[{ type: 'rename', field: 'id', to: '' }], 'Flow step 1 (rename): to must be the name of a field'],
    [[{ type: 'remove', fields: [] }], 'Flow step 1 (remove): fields must be a list of names'],
    [[{ type: 'filter', criteria: 'x' }], 'Flow step 1 (filter): criteria must be an object'],
    [Array.from({ length: 101 }, () => ({ type: 'limit', n: 1 })), 'A flow has at most 100 steps'],
  ])('%j', (flow, message) => expect(() => parseFlow(flow)).toThrow(invalid(message)));

  test.each<[string, string]>([
    ['dateDiff("century", a, a)', `dateDiff takes a unit first, one of ${DATE_UNITS.join(', ')}`],
    ['dateDiff(a, b, c)', `dateDiff takes a unit first, one of ${DATE_UNITS.join(', ')}`],
    ['dateDiff("day", a, 1)', 'dateDiff takes a date, not a integer'],
    ['dateDiff("day", "today", a)', 'dateDiff takes a date, not a string'],
    ['round(a, 99999)', 'round takes its digits as a whole number from 0 to 15'],
    ['round(a, b)', 'round takes its digits as a whole number from 0 to 15'],
    ['round(a, 1.5)', 'round takes its digits as a whole number from 0 to 15'],
    ['round("a", 1)', 'round takes a number, not a string'],
    ['not 1', 'not takes a boolean, not a integer'],
    ['not "a"', 'not takes a boolean, not a string'],
    ['a and 1', 'and takes a boolean, not a integer'],
    ['1 or a', 'or takes a boolean, not a integer'],
    ['a + "b"', '+ takes a number, not a string'],
    ['-"b"', '- takes a number, not a string'],
    ['1 * true', '* takes a number, not a boolean'],
    ['a < true', '< does not apply to a boolean'],
    ['1 = "1"', '= cannot combine integer and string'],
    ['lower(1)', 'lower takes a string, not a integer'],
    ['length(a + b)', 'length takes a string, not a number'],
    ['year("soon")', 'year takes a date, not a string'],
    ['abs(a = b)', 'abs takes a number, not a boolean'],
    ['if(1, a, b)', 'if takes a boolean, not a integer'],
    ['if(a, 1, "b")', 'if cannot combine integer and string'],
    ['coalesce(a, 1, "b")', 'coalesce cannot combine integer and string'],
    ['upper(coalesce(a, 1))', 'upper takes a string, not a integer'],
  ])('%s is refused for any fields', (expression, message) =>
    expect(() => parseFlow(calculateX(expression))).toThrow(invalid(`Flow step 1 (calculate): ${message}`)),
  );

  test.each<[unknown, string]>([
    [{ a: { $near: 1 } }, 'Unknown operator "$near" for the field "a"'],
    [{ $where: 'x' }, 'Unknown operator "$where"'],
    [{ $and: [{ b: 1 }, { a: { $not: { $like: 'x' } } }] }, 'Unknown operator "$like" for the field "a"'],
    [{ $not: 'x' }, '$not must be an object of field conditions, not a string'],
    [{ $or: {} }, '$or must be a list'],
    [{ a: {} }, 'The condition on the field "a" names no operator'],
    [{ a: [1] }, 'The field "a" cannot be compared with a list; use $in'],
    [{ a: { $in: 'x' } }, '$in must be a list'],
    [{ a: { $exists: 'x' } }, '$exists of the field "a" must be true or false'],
    [{ a: { $regex: 5 } }, '$regex of the field "a" must be a string'],
    [{ a: { $options: 'i' } }, '$options requires $regex'],
    [{ a: { $gt: true } }, 'The condition {"$gt":true} on the field "a" fits no type'],
    [{ a: { $lt: null } }, 'The condition {"$lt":null} on the field "a" fits no type'],
    [{ a: { $in: [1, 'x'] } }, 'The condition {"$in":[1,"x"]} on the field "a" fits no type'],
    [{ a: { $gt: 5, $lt: true } }, 'The condition {"$gt":5,"$lt":true} on the field "a" fits no type'],
    [{ a: { $eq: { b: 1 } } }, 'The condition {"$eq":{"b":1}} on the field "a" fits no type'],
  ])('the filter %j is refused for any fields', (criteria, message) =>
    expect(() => parseFlow([{ type: 'filter', criteria }])).toThrow(invalid(`Flow step 1 (filter): ${message}`)),
  );

  test.each<[unknown[], string]>([
    [
      [
        { type: 'remove', fields: ['a'] },
        { type: 'sort', field: 'a' },
      ],
      'Flow step 2 (sort): Unknown field "a"',
    ],
    [
      [
        { type: 'rename', field: 'a', to: 'b' },
        { type: 'filter', criteria: { a: 1 } },
      ],
      'Flow step 2 (filter): Unknown field "a"',
    ],
    [
      [
        { type: 'sort', field: 'b' },
        { type: 'rename', field: 'a', to: 'b' },
      ],
      'Flow step 2 (rename): The field "b" already exists',
    ],
    [
      [...calculateX('length(a)'), ...calculateX('lower(x)')],
      'Flow step 2 (calculate): lower takes a string, not a integer',
    ],
    [
      [...calculateX('a = 1'), { type: 'rename', field: 'x', to: 'y' }, { type: 'filter', criteria: { y: 'yes' } }],
      'Flow step 3 (filter): The field "y" is of type boolean: "yes" cannot be compared with it',
    ],
  ])('%j is refused for any fields', (flow, message) => expect(() => parseFlow(flow)).toThrow(invalid(message)));

  test.each<[unknown[]]>([
    [[{ type: 'remove', fields: ['a', 'b'] }, ...calculateX('1'), { type: 'remove', fields: ['x'] }]],
    [
      [
        { type: 'remove', fields: ['a'] },
        { type: 'calculate', field: 'a', expression: '1' },
        { type: 'sort', field: 'a' },
      ],
    ],
    [
      [
        { type: 'rename', field: 'a', to: 'b' },
        { type: 'rename', field: 'b', to: 'a' },
        { type: 'sort', field: 'a' },
      ],
    ],
    [
      [
        { type: 'rename', field: '$a', to: 'a' },
        { type: 'filter', criteria: { a: { $gt: 1 } } },
      ],
    ],
    [[...calculateX('a'), ...calculateX('lower(x)'), ...calculateX('dateDiff(day, b, "2024-01-01")')]],
    [calculateX('if(a, b, c) + coalesce(d, e, 1) / length(f) - year(g)')],
    [calculateX('coalesce(a, null)')],
    [[{ type: 'filter', criteria: { a: 'x', b: 1, c: true, d: null, e: '2024-01-01', f: { $gt: '5', $lt: '7' } } }]],
    [
      [
        {
          type: 'filter',
          criteria: { $or: [{ a: { $exists: false } }, { $not: { a: { $regex: '^x', $options: 'i' } } }] },
        },
      ],
    ],
    [[{ type: 'filter', criteria: { a: { $in: [1, null, 2] }, b: { $nin: ['x'] }, c: { $not: { $gte: 1.5 } } } }]],
  ])('%j is accepted, because some fields fit it', (flow) => expect(parseFlow(flow)).toEqual(flow.map(withOrder)));

  test.each<[unknown[], string]>([
    [[{ type: 'sort', field: 'nope' }], 'Flow step 1 (sort): Unknown field "nope"'],
    [[{ type: 'sort', field: 'extra' }], 'Flow step 1 (sort): The field "extra" is of type json and has no order'],
    [[{ type: 'rename', field: 'id', to: 'day' }], 'Flow step 1 (rename): The field "day" already exists'],
    [
      [
        { type: 'remove', fields: ['id'] },
        { type: 'filter', criteria: { id: 1 } },
      ],
      'Flow step 2 (filter): Unknown field "id"',
    ],
    [
      [{ type: 'filter', criteria: { region: 5 } }],
      'Flow step 1 (filter): The field "region" is of type string: 5 cannot be compared with it',
    ],
    [
      [{ type: 'remove', fields: COLUMNS.map(({ name }) => name) }],
      'Flow step 1 (remove): At least one field must remain',
    ],
  ])('%j', (flow, message) => expect(() => checkFlow(parseFlow(flow), COLUMNS)).toThrow(invalid(message)));
});

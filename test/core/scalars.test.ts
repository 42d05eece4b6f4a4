import { parseValue } from 'graphql';
import { describe, expect, test } from 'vitest';
import { DateTime } from '../../src/core/scalars.ts';
import { NO_DAYS } from '../support/days.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test as serviceTest } from '../support/fixture.ts';

/** Reads a time as an argument of GraphQL, and as a value of JSON. */
const readings = [
  ['a literal', (text: string) => DateTime.parseLiteral(parseValue(JSON.stringify(text)))],
  ['a value', (text: string) => DateTime.parseValue(text)],
] as const;

describe.each(readings)('%s', (_, read) => {
  test.each(NO_DAYS)('%s does not exist', (text) => {
    expect(() => read(text)).toThrow(`"${text}" is not an ISO 8601 timestamp`);
  });

  test.each(['', '2027', 'tomorrow', '2027-01-01T24:00:00Z', '2027-01-01T10:60', '2027-01-01T10', ' 2027-01-01', '0'])(
    '%j is not a time',
    (text) => expect(() => read(text)).toThrow('is not an ISO 8601 timestamp'),
  );

  test.each([
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2027-01-31 08:30', '2027-01-31T08:30:00.000Z'],
    ['2027-01-31T08:30:05.1239', '2027-01-31T08:30:05.123Z'],
    ['2027-01-31T08:30:05Z', '2027-01-31T08:30:05.000Z'],
    ['2027-01-31T00:30:00+02:00', '2027-01-30T22:30:00.000Z'],
    ['2027-01-31T00:30:00+0230', '2027-01-30T22:00:00.000Z'],
    ['2027-12-31T23:30:00-01', '2028-01-01T00:30:00.000Z'],
  ])('%s is %s', (text, time) => expect((read(text) as Date).toISOString()).toBe(time));
});

serviceTest('days that do not exist are refused with the name of the argument, in both APIs', async ({ admin }) => {
  const job = { name: 'Monthly', type: 'actions', interval: 'once', startOn: '2027-06-31T00:00:00Z' };
  await expectError(admin.post('/jobs', job), 400, /startOn.*is not an ISO 8601 timestamp/);
  const query = 'mutation ($input: CreateJobInput!) { createJob(input: $input) { id } }';
  await expectGraphqlError(admin.gql(query, { input: job }), 'BAD_USER_INPUT', /startOn.*is not an ISO 8601/);
  await expectStatus(admin.get('/usage/events?from=2027-02-30'), 400);
});

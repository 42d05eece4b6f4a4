import { expect, test } from 'vitest';
import { UnreadResponses } from '../../src/server/unread-responses.ts';

/** Counts responses of users, given as `<user> <bytes>`, in a memory of 200 bytes. */
function openMemory(maxWaitMs = Infinity) {
  const unread = new UnreadResponses({ maxOfUser: 100, maxOfAll: 200, maxWaitMs });
  const ended: string[] = [];
  const receive = new Map<string, () => void>();
  /** Returns the status of the error, or 200. */
  const add = (response: string): number => {
    const [userId, bytes] = response.split(' ');
    const added = unread.add(userId!, Number(bytes), () => ended.push(response));
    if (typeof added !== 'function') return added.status;
    receive.set(response, added);
    return 200;
  };
  return { ended, add, receive: (response: string) => receive.get(response)!() };
}

test('a user has a bounded number of unread bytes, or one response', () => {
  const { add, receive } = openMemory();
  expect(['ann 60', 'ann 40', 'ann 1', 'bob 1'].map(add)).toEqual([200, 200, 429, 200]);
  receive('ann 60');
  receive('ann 60');
  expect(['ann 61', 'ann 60'].map(add)).toEqual([429, 200]);
  expect(openMemory().add('ann 150')).toBe(200);
});

test('the oldest unread response of the user with the most bytes ends for one of another user', () => {
  const { ended, add } = openMemory();
  expect(['ann 40', 'ann 60', 'bob 90', 'eve 30'].map(add)).toEqual([200, 200, 200, 200]);
  expect(ended).toEqual(['ann 40']);
  expect(['eve 40'].map(add)).toEqual([200]);
  expect(ended).toEqual(['ann 40', 'bob 90']);
});

test('users with as many bytes as others are refused, until a response waits too long', () => {
  const patient = openMemory();
  expect(['ann 50', 'bob 100', 'ann 50', 'eve 100'].map(patient.add)).toEqual([200, 200, 200, 503]);
  expect(patient.ended).toEqual([]);
  const late = openMemory(0);
  expect(['ann 50', 'bob 100', 'ann 50', 'eve 100'].map(late.add)).toEqual([200, 200, 200, 200]);
  expect(late.ended).toEqual(['ann 50', 'bob 100']);
});

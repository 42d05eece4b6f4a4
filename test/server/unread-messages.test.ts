import { expect, test } from 'vitest';
import { UnreadMessages } from '../../src/server/graphql/unread-messages.ts';

/** Opens sockets with unread MiB, given as `<user> <MiB>`. Returns those that end when a message is sent to a user. */
function endedBy(userId: string, sockets: string[]): string[] {
  const unread = new UnreadMessages();
  const ended: string[] = [];
  for (const socket of sockets) {
    const [owner, size] = socket.split(' ');
    unread.add(owner!, { bufferedAmount: Number(size) * 1024 ** 2, terminate: () => void ended.push(socket) });
  }
  unread.limit(userId);
  return ended;
}

test('the sockets of a user with the most unread bytes end past 64 MiB', () => {
  expect(endedBy('ann', ['ann 10', 'ann 30', 'ann 20', 'ann 5', 'bob 60'])).toEqual(['ann 30']);
  expect(endedBy('ann', ['ann 40', 'ann 24', 'bob 60'])).toEqual([]);
});

test('the largest sockets of the users with the most unread bytes end past 128 MiB of all users', () => {
  const others = ['bob 20', 'bob 40', 'eve 50', 'mia 10'];
  expect(endedBy('ann', ['ann 10', ...others])).toEqual(['bob 40']);
  expect(endedBy('ann', ['ann 60', ...others])).toEqual(['ann 60']);
  expect(endedBy('ann', ['ann 60', 'bob 60', 'eve 60', 'mia 60'])).toEqual(['ann 60', 'bob 60']);
});

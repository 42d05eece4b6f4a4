import { WAYS } from './ways.ts';
/**
 * One neighbour of bench/fairness.ts: receives an `Attack` from its parent and attacks until it is killed, which closes
 * all its sockets. In its own process, so that it does not delay the victim's client.
 */
import type { Neighbour } from './world.ts';

export interface Attack {
  /** The key of a way. */
  key: string;
  neighbour: Neighbour;
  /** Result of the way's `prepare`. */
  paths: string[];
}

process.once('message', ({ key, neighbour, paths }: Attack) => {
  WAYS.find((way) => way.key === key)!.attack(neighbour, paths);
  process.send!('started');
});
// A neighbour never outlives the benchmark.
process.once('disconnect', () => process.exit());

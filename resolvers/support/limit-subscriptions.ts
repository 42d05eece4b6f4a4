import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { tooMany } from '../../src/core/errors.ts';
import { PerUserLimit } from '../../src/core/per-user-limit.ts';

const MAX_SUBSCRIPTIONS = 200;

type Subscribe = GraphQLFieldResolver<unknown, PublicContext>;

/**
 * Limits the open subscriptions of a user in this process, over WebSocket and as REST streams. Further ones fail with
 * 429. Changes and returns the schema. See docs/contract.md#fairness.
 */
export function limitSubscriptions(schema: GraphQLSchema): GraphQLSchema {
  const limit = new PerUserLimit(MAX_SUBSCRIPTIONS);
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {}))
    if (field.subscribe) field.subscribe = withLimit(limit, field.subscribe);
  return schema;
}

const withLimit =
  (limit: PerUserLimit, subscribe: Subscribe): Subscribe =>
  async (source, args, context, info) => {
    if (!context.viewer) return subscribe(source, args, context, info);
    const release = limit.acquire(context.viewer.userId);
    if (!release) throw tooMany(`A user may have at most ${MAX_SUBSCRIPTIONS} open subscriptions`);
    try {
      return releaseAfter((await subscribe(source, args, context, info)) as AsyncIterable<unknown>, release);
    } catch (error) {
      release();
      throw error;
    }
  };

/**
 * Returns the values of a source, and calls `release` when it ends. Not an async generator: `return()` of a generator
 * waits for the pending value, which may never come.
 */
function releaseAfter(source: AsyncIterable<unknown>, release: () => void): AsyncIterableIterator<unknown> {
  const values = source[Symbol.asyncIterator]();
  return {
    async next() {
      try {
        const result = await values.next();
        if (result.done) release();
        return result;
      } catch (error) {
        release();
        throw error;
      }
    },
    async return(value) {
      release();
      return (await values.return?.(value)) ?? { done: true, value };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

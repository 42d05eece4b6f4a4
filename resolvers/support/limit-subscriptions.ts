import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { tooMany } from '../../src/core/errors.ts';
import { PerUserLimit } from '../../src/core/per-user-limit.ts';
import { limitKeyOf } from '../../src/core/viewer.ts';

const MAX_SUBSCRIPTIONS = 200;

type Subscribe = GraphQLFieldResolver<unknown, PublicContext>;

/**
 * Limits the open subscriptions of a user in this process, over WebSocket and as REST streams. Further ones fail with
 * 429. Changes and returns the schema. See docs/contract/operations.md#fairness.
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
    const { viewer, request } = context;
    if (!viewer) return subscribe(source, args, context, info);
    const release = limit.acquire(limitKeyOf(viewer));
    if (!release) throw tooMany(`A user may have at most ${MAX_SUBSCRIPTIONS} open subscriptions`);
    try {
      return releaseAfter(
        (await subscribe(source, args, context, info)) as AsyncIterable<unknown>,
        release,
        request.signal,
      );
    } catch (error) {
      release();
      throw error;
    }
  };

/**
 * Returns the values of a source, and calls `release` when it ends. The source ends with the signal too: graphql-ws
 * does not end a subscription whose id a client uses again. Not an async generator: `return()` of a generator waits for
 * the pending value, which may never come.
 */
function releaseAfter(
  source: AsyncIterable<unknown>,
  release: () => void,
  signal: AbortSignal,
): AsyncIterableIterator<unknown> {
  const values = source[Symbol.asyncIterator]();
  const abort = () => {
    release();
    values.return?.()?.catch(() => {});
  };
  const end = () => {
    release();
    signal.removeEventListener('abort', abort);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    async next() {
      try {
        const result = await values.next();
        if (result.done) end();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    async return(value) {
      end();
      return (await values.return?.(value)) ?? { done: true, value };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

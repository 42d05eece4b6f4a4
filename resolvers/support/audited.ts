import type { GraphQLField, GraphQLFieldResolver } from 'graphql';
import type { Mutation } from '../../src/core/audit.ts';
import type { PublicContext } from '../../src/core/context.ts';
import { ApiError } from '../../src/core/errors.ts';
import { ABILITIES } from '../../src/core/permissions.ts';
import { recordAuditAfterwards } from '../../src/services/resource/audit.ts';

type Resolve = GraphQLFieldResolver<unknown, PublicContext>;

/** Kinds that the log speaks of beside those that have abilities. */
const KINDS: ReadonlySet<string> = new Set([
  ...Object.keys(ABILITIES),
  'token',
  'session',
  'operation',
  'notification',
]);

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '');

/**
 * The kind of resource that a mutation is about: that of its permission, else the first in its name, `deleteToken`,
 * else a user where it names one.
 */
function kindOf({ name, args }: GraphQLField<unknown, PublicContext>, permission: string): string | null {
  const [ability = ''] = permission.split(':');
  const words = [
    ...(ability in ABILITIES ? [ability] : []),
    ...[...name.matchAll(/[A-Z][a-z]+/g)].map(([word]) => singular(word.toLowerCase())),
  ];
  return (
    words.find((word) => KINDS.has(word)) ?? (args.some((argument) => argument.name === 'username') ? 'user' : null)
  );
}

/**
 * What is kept of the arguments: the one that names the resource, children naming their parent first. Nothing else of
 * them is ever logged.
 */
function keyOf(kind: string | null, args: Record<string, unknown>): string | null {
  const key = args[`${kind}Id`] ?? args['id'] ?? args['username'];
  return typeof key === 'string' ? key : null;
}

/**
 * Wraps a mutation so that each call of it that succeeds, or is refused, is one event of the audit log. The event is
 * written in the transaction of the change (src/services/unit-of-work.ts); for a mutation without one it is written
 * afterwards, and before the caller hears of the success.
 */
export function audited(field: GraphQLField<unknown, PublicContext>, permission: string, resolve: Resolve): Resolve {
  const kind = kindOf(field, permission);
  return async (source, args, context, info) => {
    const mutation: Mutation = { action: field.name, kind, key: keyOf(kind, args), resourceId: null, recorded: false };
    // Mutations of one document run one after the other, so that a request is at one at a time.
    context.request.mutation = mutation;
    try {
      const answer: unknown = await resolve(source, args, context, info);
      await recordAuditAfterwards(context, 'succeeded');
      return answer;
    } catch (error) {
      if (mutation.refused || (error instanceof ApiError && error.status === 403)) {
        await recordAuditAfterwards(context, 'denied').catch((err: unknown) =>
          context.platform.log.error({ err, requestId: context.request.id }, 'A refusal could not be audited'),
        );
      }
      throw error;
    } finally {
      context.request.mutation = undefined;
    }
  };
}

import type { GraphQLField, GraphQLFieldResolver } from 'graphql';
import type { AuditedMutation } from '../../src/core/audit.ts';
import { uncapitalize } from '../../src/core/capitalize.ts';
import type { PublicContext } from '../../src/core/context.ts';
import { ApiError } from '../../src/core/errors.ts';
import { ABILITIES } from '../../src/core/permissions.ts';
import { recordAuditAfterwards } from '../../src/services/resource/audit.ts';

type Resolve = GraphQLFieldResolver<unknown, PublicContext>;

/** Kinds of resources in the audit log: those with abilities, and some without. */
const AUDITED_KINDS: ReadonlySet<string> = new Set([
  ...Object.keys(ABILITIES),
  'token',
  'session',
  'operation',
  'notification',
  'identityProvider',
  'usageProfile',
]);

const toSingular = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '');

/** Returns the words of a name and their sequences, the longer ones first: `savedFilter`, `saved`, `filter`. */
function phrasesOf(name: string): string[] {
  const words = [...name.matchAll(/[A-Z][a-z]+/g)].map(([word]) => toSingular(word));
  return words.flatMap((_, start) =>
    words.slice(start).map((_word, dropped) => uncapitalize(words.slice(start, words.length - dropped).join(''))),
  );
}

/**
 * Returns the kind of resource that a mutation changes or a download reads. This is the kind in its permission if an
 * argument identifies the resource. Otherwise it is the first kind in its name (`deleteToken`, `createAgent`), or
 * `user` if it has an argument `username`.
 */
export function kindOf({ name, args }: GraphQLField<unknown, PublicContext>, permission: string): string | null {
  const [ability = ''] = permission.split(':');
  const hasArgument = (...names: string[]) => args.some((argument) => names.includes(argument.name));
  const ofPermission = ability in ABILITIES ? [ability] : [];
  const candidates = hasArgument(`${ability}Id`, 'id', 'username')
    ? [...ofPermission, ...phrasesOf(name)]
    : [...phrasesOf(name), ...ofPermission];
  const kind = candidates.find((candidate) => AUDITED_KINDS.has(candidate));
  if (kind) return kind;
  return hasArgument('username') ? 'user' : null;
}

/**
 * Returns the argument that identifies the resource; for a child this is its parent's id. No other argument is ever
 * logged.
 */
export function keyOf(kind: string | null, args: Record<string, unknown>): string | null {
  const key = args[`${kind}Id`] ?? args['id'] ?? args['username'];
  return typeof key === 'string' ? key : null;
}

/**
 * Wraps a mutation so that each call that succeeds or is denied is one event of the audit log
 * (docs/contract/resources.md#audit-log). The event is written in the transaction of the change (`unit-of-work.ts`),
 * or, for a mutation without a transaction, before the response.
 */
export function withAudit(field: GraphQLField<unknown, PublicContext>, permission: string, resolve: Resolve): Resolve {
  const kind = kindOf(field, permission);
  return async (source, args, context, info) => {
    const mutation: AuditedMutation = {
      action: field.name,
      kind,
      key: keyOf(kind, args),
      resourceId: null,
      recorded: false,
    };
    // The mutations of a document run one after the other, so a request has at most one at a time.
    context.request.mutation = mutation;
    try {
      const result: unknown = await resolve(source, args, context, info);
      await recordAuditAfterwards(context, 'succeeded');
      return result;
    } catch (error) {
      if (mutation.isDenied || isForbidden(error)) await recordDenial(context);
      throw error;
    } finally {
      context.request.mutation = undefined;
    }
  };
}

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

/** Logs its own failure: the caller must receive the original error. */
async function recordDenial(context: PublicContext): Promise<void> {
  await recordAuditAfterwards(context, 'denied').catch((err: unknown) =>
    context.platform.log.error({ err, requestId: context.request.id }, 'A denied mutation could not be audited'),
  );
}

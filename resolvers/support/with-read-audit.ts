import { getNamedType, isObjectType, type GraphQLField, type GraphQLFieldResolver } from 'graphql';
import { capitalize } from '../../src/core/capitalize.ts';
import type { Context, PublicContext } from '../../src/core/context.ts';
import { auditChunks, recordRefusedRead } from '../../src/services/resource/audit-read.ts';
import { keyOf, kindOf } from './with-audit.ts';

type Subscribe = GraphQLFieldResolver<unknown, PublicContext>;

/** Returns whether a subscription emits a file in chunks. */
export function emitsFile({ type }: GraphQLField<unknown, PublicContext>): boolean {
  const chunk = getNamedType(type);
  if (!isObjectType(chunk)) return false;
  const fields = chunk.getFields();
  return ['text', 'encoding', 'filename'].every((name) => name in fields);
}

/**
 * Wraps a subscription to a file so that each download is one event of the audit log
 * (docs/contract/resources.md#audit-log), in GraphQL and in REST, whose exports are subscriptions.
 */
export function withReadAudit(
  field: GraphQLField<unknown, PublicContext>,
  permission: string,
  subscribe: Subscribe,
): Subscribe {
  // The kind is the first word of the name: `datasetExport`.
  const kind = kindOf({ ...field, name: capitalize(field.name) }, permission);
  return async (source, args, context, info) => {
    const key = keyOf(kind, args);
    const parameters = Object.keys(args).filter((name) => args[name] !== undefined && args[name] !== key);
    const read = { action: field.name, kind, key, resourceId: null, parameters };
    try {
      const chunks = (await subscribe(source, args, context, info)) as Parameters<typeof auditChunks>[2];
      return auditChunks(context as Context, read, chunks);
    } catch (error) {
      await recordRefusedRead(context, read, error);
      throw error;
    }
  };
}

import type { FastifyReply } from 'fastify';
import {
  execute,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  parse,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { checkCaller } from '../../../resolvers/support/guard.ts';
import { RESERVES_KEY } from '../../../resolvers/support/idempotency-exceptions.ts';
import { capitalize } from '../../core/capitalize.ts';
import type { Context, PublicContext } from '../../core/context.ts';
import { parseIdempotencyKey } from '../../core/idempotency.ts';
import { openKeyedRequest, type FieldFacts } from '../../services/resource/idempotency.ts';

/** Lets a context open its request with an idempotency key. */
export type AcceptKey = (context: PublicContext, key: unknown, reply?: FastifyReply) => void;

const READ = parse('query ($id: ID!) { node(id: $id) { id } }');

/** Creates the function that accepts keys. Without a caller a key has no scope, and is ignored. */
export function createKeyAcceptor(schema: GraphQLSchema): AcceptKey {
  const node = schema.getType('Node');
  const mutations = schema.getMutationType()!.getFields();

  const checkReadable: FieldFacts['checkReadable'] = async (contextValue, kind, id) => {
    const type = schema.getType(capitalize(kind));
    if (!isInterfaceType(node) || !isObjectType(type) || !schema.isSubType(node, type as GraphQLObjectType)) return;
    const { errors } = await execute({ schema, document: READ, contextValue, variableValues: { id } });
    if (errors) throw errors[0]!;
  };

  const factsOf = (name: string): FieldFacts => {
    const field = mutations[name]!;
    const type = getNamedType(field.type);
    return {
      reservesKey: Object.hasOwn(RESERVES_KEY, name),
      resultType: isCompositeType(type) ? type.name : null,
      check: (ctx) => checkCaller(field, ctx),
      checkReadable,
    };
  };

  return (context, sent, reply) => {
    if (sent === undefined || !context.viewer) return;
    context.openKeyed = async (parts) => {
      const request = await openKeyedRequest(context as Context, parseIdempotencyKey(sent), parts, factsOf);
      if (!reply) return request;
      return {
        async run(field, run) {
          const result = await request.run(field, run);
          if (result.isReplayed) void reply.header('idempotency-replayed', 'true');
          return result;
        },
      };
    };
  };
}

import { isObjectType, type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { defineError, forbidden, unauthenticated } from '../../src/core/errors.ts';
import { isGlobalPermission, type Permission } from '../../src/core/permissions.ts';
import { audited } from './audited.ts';

const readOnlyToken = defineError(403, 'FORBIDDEN', (scope: string) => `This token lacks the scope ${scope}`);
const sessionRequired = defineError(
  403,
  'FORBIDDEN',
  () => 'This needs a session: log in with a password instead of a token',
);

/**
 * Names the permission of a root field. It is recorded, and enforced by `guard`; rights on the row itself are the
 * service's.
 */
export const Can = (permission: Permission) => Extensions({ permission });

/** Opens a root field to callers without credentials. */
export const Public = () => Extensions({ permission: 'public' });

/** The permission that a root field names, `public` or undefined. */
export const permissionOf = (field: GraphQLField<unknown, unknown>): Permission | 'public' | undefined =>
  field.extensions.permission as Permission | 'public' | undefined;

/** The root types and the token scope each asks for. */
export const rootTypes = (schema: GraphQLSchema) =>
  (
    [
      ['read', schema.getQueryType()],
      ['write', schema.getMutationType()],
      ['read', schema.getSubscriptionType()],
    ] as const
  ).filter(([, type]) => isObjectType(type));

/**
 * Wraps every root field of the schema with one synchronous check of credentials, token scope and global permission,
 * and every mutation, public ones included, so that it is audited. A root field that names neither a permission nor
 * `@Public` stops the start.
 */
export function guard(schema: GraphQLSchema): GraphQLSchema {
  for (const [scope, type] of rootTypes(schema)) {
    for (const field of Object.values(type!.getFields())) {
      const permission = permissionOf(field);
      if (!permission) throw new Error(`${type!.name}.${field.name} names no permission: put @Can or @Public above it`);
      const check = permission === 'public' ? undefined : checkFor(permission, scope);
      if (check && field.resolve) field.resolve = checked(check, field.resolve);
      if (check && field.subscribe) field.subscribe = checked(check, field.subscribe);
      if (scope === 'write' && field.resolve) field.resolve = audited(field, permission, field.resolve);
    }
  }
  return schema;
}

type Check = (context: PublicContext) => void;

const checked =
  (check: Check, resolve: GraphQLFieldResolver<unknown, PublicContext>): GraphQLFieldResolver<unknown, PublicContext> =>
  (source, args, context, info) => {
    check(context);
    return resolve(source, args, context, info);
  };

function checkFor(permission: Permission, scope: 'read' | 'write'): Check {
  return ({ viewer }) => {
    if (!viewer) throw unauthenticated();
    if (!viewer.scopes.has(scope)) throw readOnlyToken(scope);
    if (permission === 'session' && viewer.authMethod !== 'session') throw sessionRequired();
    if (isGlobalPermission(permission) && !viewer.superuser && !viewer.permissions.has(permission))
      throw forbidden({ permission });
  };
}

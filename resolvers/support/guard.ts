import { isObjectType, type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';
import type { PublicContext } from '../../src/core/context.ts';
import {
  appRefused,
  defineError,
  forbidden,
  sessionRequired,
  unauthenticated,
  type ApiError,
} from '../../src/core/errors.ts';
import { isGlobalPermission, type Permission } from '../../src/core/permissions.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { refusesApps } from './app-refusals.ts';
import { withAudit } from './with-audit.ts';
import { emitsFile, withReadAudit } from './with-read-audit.ts';
import { withStorage } from './with-storage.ts';

const readOnlyToken = defineError(403, 'FORBIDDEN', (scope: string) => `This token lacks the scope ${scope}`);

/**
 * Declares the permission of a root field, which `guard` enforces. With `session` the caller also requires a session
 * instead of a token. With `tokenScope` a token needs either this scope or the one of its root type. Access to the row
 * itself is checked by the service.
 */
export const Can = (
  permission: Permission,
  { session = false, tokenScope }: { session?: boolean; tokenScope?: 'documents' } = {},
) => Extensions({ permission, session, ...(tokenScope && { tokenScope }) });

/** Opens a root field to callers without credentials. */
export const Public = () => Extensions({ permission: 'public' });

/** Opens a root field to callers without credentials, but not to those with invalid ones. */
export const OptionalCredentials = () => Extensions({ permission: 'public', refusesInvalidCredentials: true });

/** Returns whether a root field refuses callers with invalid credentials, and serves those without any. */
export const refusesInvalidCredentials = (field: GraphQLField<unknown, unknown>): boolean =>
  field.extensions.refusesInvalidCredentials === true;

/** Returns the permission that a root field declares: a permission, `public` or undefined. */
export const permissionOf = (field: GraphQLField<unknown, unknown>): Permission | 'public' | undefined =>
  field.extensions.permission as Permission | 'public' | undefined;

/** Returns whether a root field requires a session in addition to its permission. */
export const requiresSession = (field: GraphQLField<unknown, unknown>): boolean => field.extensions.session === true;

/** Returns whether a token has a scope that a root field requires. */
const hasScope = ({ scopes }: Viewer, { extensions }: GraphQLField<unknown, unknown>, scope: Scope): boolean =>
  scopes.has(scope) || (extensions.tokenScope !== undefined && scopes.has(extensions.tokenScope as 'documents'));

/** Returns the root types of a schema, each with the token scope that it requires. */
export const rootTypes = (schema: GraphQLSchema) =>
  (
    [
      ['read', schema.getQueryType()],
      ['write', schema.getMutationType()],
      ['read', schema.getSubscriptionType()],
    ] as const
  ).filter(([, type]) => isObjectType(type));

/**
 * Wraps every root field of a schema in one synchronous check of credentials, token scope, global permission and rights
 * of apps. Wraps mutations that store data in the check of their tenant's storage. Wraps every mutation, including
 * public ones, and every download in its audit. Throws if a root field declares neither `@Can` nor `@Public`.
 */
export function guard(schema: GraphQLSchema): GraphQLSchema {
  for (const [scope, type] of rootTypes(schema)) {
    for (const field of Object.values(type!.getFields())) {
      const permission = permissionOf(field);
      if (!permission) throw new Error(`${type!.name}.${field.name} has no permission: put @Can or @Public above it`);
      const check = permission === 'public' ? createPublicCheck(field, scope) : createCheck(field, permission, scope);
      if (check) CHECKS.set(field, check);
      if (scope === 'write' && field.resolve) field.resolve = withStorage(field.name, field.resolve);
      if (check && field.resolve) field.resolve = withCheck(check, field.resolve);
      if (check && field.subscribe) field.subscribe = withCheck(check, field.subscribe);
      if (scope === 'write' && field.resolve) field.resolve = withAudit(field, permission, field.resolve);
      if (field.subscribe && emitsFile(field)) field.subscribe = withReadAudit(field, permission, field.subscribe);
    }
  }
  return schema;
}

type Check = (context: PublicContext) => void;
type Scope = 'read' | 'write';

const CHECKS = new WeakMap<object, Check>();

/** Throws UNAUTHENTICATED or FORBIDDEN if a caller may not run a root field. */
export const checkCaller = (field: GraphQLField<unknown, unknown>, context: PublicContext): void =>
  CHECKS.get(field)?.(context);

const withCheck =
  (check: Check, resolve: GraphQLFieldResolver<unknown, PublicContext>): GraphQLFieldResolver<unknown, PublicContext> =>
  (source, args, context, info) => {
    check(context);
    return resolve(source, args, context, info);
  };

const isRefusedToApps = ({ name }: GraphQLField<unknown, unknown>, scope: Scope): boolean =>
  scope === 'write' && refusesApps(name);

/** Returns the check of a public root field that refuses some callers; undefined for all others. */
function createPublicCheck(field: GraphQLField<unknown, unknown>, scope: Scope): Check | undefined {
  if (refusesInvalidCredentials(field)) {
    const check = createCheck(field, 'authenticated', scope);
    return (context) => {
      if (context.viewer || context.request.hasCredentials) check(context);
    };
  }
  return isRefusedToApps(field, scope)
    ? ({ viewer }) => {
        if (viewer?.authMethod === 'app') throw appRefused();
      }
    : undefined;
}

/** Returns a check that throws UNAUTHENTICATED or FORBIDDEN. */
function createCheck(field: GraphQLField<unknown, unknown>, permission: Permission, scope: Scope): Check {
  const notInApps = isRefusedToApps(field, scope);
  return ({ viewer, request }) => {
    if (!viewer) throw unauthenticated(request.cookieRefusal);
    const refusal =
      notInApps && viewer.authMethod === 'app' ? appRefused() : refusalOf(viewer, field, permission, scope);
    if (refusal) throw refusal;
  };
}

/** Returns the error with which a root field refuses a viewer; undefined if they may run it. */
function refusalOf(
  viewer: Viewer,
  field: GraphQLField<unknown, unknown>,
  permission: Permission,
  scope: Scope,
): ApiError | undefined {
  if (!hasScope(viewer, field, scope)) return readOnlyToken(scope);
  if (isGlobalPermission(permission) && !viewer.superuser && !viewer.permissions.has(permission))
    return forbidden({ permission });
  return requiresSession(field) && viewer.authMethod !== 'session' ? sessionRequired() : undefined;
}

/** Returns whether a viewer may run a root field of the query type. */
export function mayRun(viewer: Viewer, field: GraphQLField<unknown, unknown>): boolean {
  const permission = permissionOf(field);
  if (permission === undefined) return false;
  if (permission === 'public' && !refusesInvalidCredentials(field)) return true;
  const required = permission === 'public' ? 'authenticated' : permission;
  return !refusalOf(viewer, field, required, 'read');
}

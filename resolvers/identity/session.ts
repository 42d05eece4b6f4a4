import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
} from 'type-graphql';
import { Session } from '../../entities/session.ts';
import { User } from '../../entities/user.ts';
import type { Context, PublicContext } from '../../src/core/context.ts';
import { DateTime } from '../../src/core/scalars.ts';
import { login } from '../../src/services/identity/login.ts';
import { logout } from '../../src/services/identity/session-opening.ts';
import * as tokens from '../../src/services/identity/token.ts';
import { permissionsOf } from '../../src/services/identity/user-permissions.ts';
import { createViewerContext } from '../../src/services/resource/viewer-context.ts';
import { Can, Optional, Public } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

const AuthMethodEnum = { SESSION: 'session', TOKEN: 'token', APP: 'app' } as const;
registerEnumType(AuthMethodEnum, {
  name: 'AuthMethod',
  description: 'Authentication method of a caller.',
  valuesConfig: {
    SESSION: { description: 'Session cookie.' },
    TOKEN: { description: 'API token.' },
    APP: { description: 'Handler of an app that acts for the caller, without a credential.' },
  },
});

@ObjectType({ description: 'Result of a login. The session cookie is set in the response.' })
class Login {
  @Field(() => DateTime, { description: 'Time at which the session ends if it is not used before.' })
  expiresAt!: Date;
}

@ObjectType({ description: 'The caller with their credential and permissions.' })
class CurrentSession {
  @Field(() => String, { description: 'Slug of the tenant.' }) tenant!: string;
  @Field(() => [String], { description: 'Global permissions of the caller.' }) permissions!: string[];
  @Field(() => DateTime, {
    nullable: true,
    description: 'Time at which the session or token expires. Null for a token that does not expire.',
  })
  expiresAt!: Date | null;
  @Field(() => AuthMethodEnum, { description: 'Authentication method of the caller.' })
  authMethod!: (typeof AuthMethodEnum)[keyof typeof AuthMethodEnum];
}

@Resolver(() => Login)
export class LoginResolver {
  @FieldResolver(() => User, { description: 'The user who logged in.' })
  user(@Ctx() ctx: Context, @Root() _login: Login, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, ctx.viewer.userId, info);
  }
}

@Resolver(() => CurrentSession)
export class SessionResolver {
  @Public()
  @Mutation(() => Login, {
    description:
      'Opens a session and sets its cookie. Ten consecutive failures lock the user for 15 minutes. Rate limited by ' +
      'user and IP address.',
  })
  async login(
    @Ctx() ctx: PublicContext,
    @Arg('username', { description: 'Username.' }) username: string,
    @Arg('password', { description: 'Password.' }) password: string,
    @Arg('domain', () => String, { nullable: true, description: 'Domain of the account. Default: `local`.' })
    domain?: string | null,
    @Arg('tenant', () => String, { nullable: true, description: 'Slug of the tenant. Default: `default`.' }) tenant?:
      | string
      | null,
  ): Promise<Login> {
    const { viewer, expiresAt } = await login(ctx, { username, password, domain, tenant });
    // The rest of the request runs as the user, so that the selected fields can be read.
    Object.assign(ctx, createViewerContext(ctx.platform, ctx.request, viewer));
    return { expiresAt };
  }

  @Public()
  @Mutation(() => Boolean, { description: 'Ends the session of the request, if it has one, and clears the cookie.' })
  async logout(@Ctx() ctx: PublicContext) {
    await logout(ctx);
    return true;
  }

  @Can('authenticated')
  @Query(() => CurrentSession, { description: 'Returns the caller with their credential and permissions.' })
  session(@Ctx() { viewer }: Context): CurrentSession {
    const { tenant, expiresAt, authMethod } = viewer;
    return {
      tenant,
      expiresAt,
      authMethod: authMethod as CurrentSession['authMethod'],
      permissions: permissionsOf({ superuser: viewer.superuser, permissions: [...viewer.permissions] }),
    };
  }

  @Optional()
  @Query(() => User, {
    nullable: true,
    description: 'Returns the caller; null without credentials. Invalid credentials are UNAUTHENTICATED.',
  })
  viewer(@Ctx() ctx: Context | (PublicContext & { viewer: null }), @Info() info: GraphQLResolveInfo) {
    return ctx.viewer && (ctx as Context).read.one(User, ctx.viewer.userId, info);
  }

  @FieldResolver(() => User, { description: 'The caller.' })
  user(@Ctx() ctx: Context, @Root() _session: CurrentSession, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, ctx.viewer.userId, info);
  }

  @Can('authenticated')
  @Query(() => [Session], { description: 'Lists the open sessions of the caller, latest first.' })
  sessions(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs, @Info() info: GraphQLResolveInfo) {
    const open = { sql: 'user_id = ? and expires_at > now()', params: [ctx.viewer.userId] };
    return ctx.read.list(Session, info, open, page);
  }

  @Can('authenticated')
  @Mutation(() => ID, { description: 'Ends a session of the caller immediately. Returns its id.' })
  async deleteSession(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'Id of the session.' }) id: string) {
    await tokens.removeSession(ctx, id);
    return id;
  }
}

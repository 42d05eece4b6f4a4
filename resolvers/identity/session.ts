import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
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
import { login, logout } from '../../src/services/identity/login.ts';
import * as tokens from '../../src/services/identity/token.ts';
import { permissionsOf } from '../../src/services/identity/user-permissions.ts';
import { viewerContext } from '../../src/services/resource/viewer-context.ts';
import { Can, Public } from '../support/guard.ts';

export const AuthMethodEnum = { SESSION: 'session', TOKEN: 'token' } as const;
registerEnumType(AuthMethodEnum, {
  name: 'AuthMethod',
  description: 'How a caller proved who they are.',
  valuesConfig: { SESSION: { description: 'By a session’s cookie.' }, TOKEN: { description: 'By an API token.' } },
});

/** Answer of a login; the session itself travels as a cookie. */
@ObjectType({ description: 'A session that was opened; its cookie came with the answer.' })
export class Login {
  @Field(() => DateTime, { description: 'When the session ends unless it is used before.' })
  expiresAt!: Date;
}

/** Who is calling, and how. */
@ObjectType({ description: 'Who is calling, how, and what they may do.' })
export class CurrentSession {
  @Field(() => String, { description: 'Slug of the tenant.' }) tenant!: string;
  @Field(() => [String], { description: 'Global permissions of the caller.' }) permissions!: string[];
  @Field(() => DateTime, {
    nullable: true,
    description: 'When the session or token ends; null for a token without end.',
  })
  expiresAt!: Date | null;
  @Field(() => AuthMethodEnum, { description: 'How the caller proved who they are.' }) authMethod!: 'session' | 'token';
}

@Resolver(() => Login)
export class LoginResolver {
  @FieldResolver(() => User, { description: 'Who logged in.' })
  user(@Ctx() ctx: Context, @Root() _login: Login, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, ctx.viewer.userId, info);
  }
}

@Resolver(() => CurrentSession)
export class SessionResolver {
  @Public()
  @Mutation(() => Login, { description: 'Opens a session and sets its cookie.' })
  async login(
    @Ctx() ctx: PublicContext,
    @Arg('username', { description: 'Name of the user.' }) username: string,
    @Arg('password', { description: 'Password of the user.' }) password: string,
    @Arg('domain', () => String, { nullable: true, description: 'Where the account is kept. Default `local`.' })
    domain?: string | null,
    @Arg('tenant', () => String, { nullable: true, description: 'Slug of the tenant. Default `default`.' }) tenant?:
      | string
      | null,
  ): Promise<Login> {
    const { viewer, expiresAt } = await login(ctx, { username, password, domain, tenant });
    // From here on the request is the user's, so that what is selected of them can be read.
    Object.assign(ctx, viewerContext(ctx.platform, ctx.request, viewer));
    return { expiresAt };
  }

  @Public()
  @Mutation(() => Boolean, { description: 'Ends the session of the request and clears its cookie.' })
  async logout(@Ctx() ctx: PublicContext) {
    await logout(ctx);
    return true;
  }

  @Can('authenticated')
  @Query(() => CurrentSession, { description: 'Who is calling, and how.' })
  session(@Ctx() { viewer }: Context): CurrentSession {
    const { tenant, expiresAt, authMethod } = viewer;
    return {
      tenant,
      expiresAt,
      authMethod,
      permissions: permissionsOf({ superuser: viewer.superuser, permissions: [...viewer.permissions] }),
    };
  }

  @FieldResolver(() => User, { description: 'The caller.' })
  user(@Ctx() ctx: Context, @Root() _session: CurrentSession, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, ctx.viewer.userId, info);
  }

  @Can('authenticated')
  @Query(() => [Session], { description: 'The caller’s sessions, the latest first.' })
  sessions(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return ctx.read.list(Session, info, { sql: 'user_id = ? and expires_at > now()', params: [ctx.viewer.userId] });
  }

  @Can('authenticated')
  @Mutation(() => ID, { description: 'Ends one of the caller’s sessions; answers its id.' })
  async deleteSession(@Ctx() ctx: Context, @Arg('id', () => ID, { description: 'Id of the session.' }) id: string) {
    await tokens.removeSession(ctx, id);
    return id;
  }
}

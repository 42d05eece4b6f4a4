import { Arg, Ctx, Field, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import {
  finishLogin,
  listLoginProviders,
  startLogin,
  type LoginProviderLink,
} from '../../src/services/identity/provider-login.ts';
import { Public } from '../support/guard.ts';

@ObjectType({ description: 'An identity provider with which users can log in.' })
class LoginProvider {
  @Field(() => String, { description: 'Domain of the users that it authenticates.' }) domain!: string;
  @Field(() => String, { description: 'Display name.' }) name!: string;
  @Field(() => String, { description: 'Path that starts a login, for the browser to open.' }) href!: string;
}

const Domain = () => Arg('domain', { description: 'Domain of the account.' });
const Tenant = () =>
  Arg('tenant', () => String, { nullable: true, description: 'Slug of the tenant. Default: `default`.' });

@Resolver()
export class ProviderLoginResolver {
  @Public()
  @Query(() => [LoginProvider], {
    description: 'Lists the identity providers with which users of a tenant can log in, by name.',
  })
  loginProviders(@Ctx() ctx: PublicContext, @Tenant() tenant?: string | null): Promise<LoginProviderLink[]> {
    return listLoginProviders(ctx, tenant);
  }

  @Public()
  @Mutation(() => String, {
    description:
      'Starts a login at the identity provider of a domain. Returns the URL that the browser opens, and sets a ' +
      'cookie that the callback requires within ten minutes. In REST, the response is the redirect.',
  })
  startLogin(
    @Ctx() ctx: PublicContext,
    @Domain() domain: string,
    @Tenant() tenant?: string | null,
    @Rule({ maxLength: 2000 })
    @Arg('returnTo', () => String, {
      nullable: true,
      description: 'Path of this service that the browser opens after the login. Default: `/`.',
    })
    returnTo?: string | null,
  ): Promise<string> {
    return startLogin(ctx, domain, { tenant, returnTo });
  }

  @Public()
  @Mutation(() => String, {
    description:
      'Ends a login at an identity provider: opens a session and sets its cookie. Returns the path that the ' +
      'browser opens. The browser sends the cookie of `startLogin` to `/api/login` only, so this mutation is for the ' +
      'redirect of REST.',
  })
  finishLogin(
    @Ctx() ctx: PublicContext,
    @Domain() domain: string,
    @Rule({ maxLength: 20_000 })
    @Arg('parameters', { description: 'Query string with which the identity provider sent the browser back.' })
    parameters: string,
    @Tenant() tenant?: string | null,
  ): Promise<string> {
    return finishLogin(ctx, domain, parameters, tenant);
  }
}

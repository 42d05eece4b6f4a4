import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Connection } from '../../entities/connection.ts';
import { Library } from '../../entities/library.ts';
import { Toolkit } from '../../entities/toolkit.ts';
import type { ConnectionAccount } from '../../src/core/connection.ts';
import type { Context, PublicContext } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { finishAuthorization } from '../../src/services/oauth/authorization.ts';
import * as connections from '../../src/services/oauth/connection.ts';
import { Key } from '../support/arguments.ts';
import { Can, Public } from '../support/guard.ts';

@ObjectType({ description: 'A started authorization of a connection.' })
class Authorization {
  @Field(() => String, {
    description:
      'URL at which the user authorizes the connection, within ten minutes, in a browser with their session.',
  })
  url!: string;

  @Field(() => String, {
    description:
      'Redirect URI with which this service must be registered at the provider. Each authorization server of toolkits has ' +
      'one of its own.',
  })
  redirectUri!: string;
}

@ObjectType({ description: 'The account at the provider of a drive, as last seen.' })
class DriveAccount {
  @Field(() => String, { nullable: true, description: 'Email address; null if the provider states none.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'Display name; null if the provider states none.' })
  displayName!: string | null;

  @Field(() => ID, { description: 'Id at the provider.' })
  accountId!: string;
}

@Resolver(() => Library)
export class LibraryConnectionFields {
  @Can('library:write')
  @Mutation(() => Authorization, {
    description:
      'Starts the authorization of a library at the provider of its integration. It changes no connection yet.',
  })
  authorizeLibrary(@Ctx() ctx: Context, @Key('library') id: string): Promise<Authorization> {
    return connections.authorizeLibrary(ctx, id);
  }

  @Can('library:write')
  @Mutation(() => ID, {
    description:
      'Ends the connection of a library and revokes it at the provider. Files stay. Returns the `id` argument.',
  })
  async disconnectLibrary(@Ctx() ctx: Context, @Key('library') id: string): Promise<string> {
    await connections.disconnect(ctx, { kind: 'library', id });
    return id;
  }

  @FieldResolver(() => Connection, { nullable: true, description: 'The connection; null if there is none.' })
  connection(@Ctx() ctx: Context, @Root() { id }: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.find(Connection, { libraryId: id }, info);
  }

  @FieldResolver(() => DriveAccount, {
    nullable: true,
    description: 'The account of the connection; null if there is none.',
  })
  account(@Root() { account }: { account: ConnectionAccount | null }): DriveAccount | null {
    return account;
  }
}

@Resolver(() => Toolkit)
export class ToolkitConnectionFields {
  @Can('toolkit:write')
  @Mutation(() => Authorization, {
    description: 'Starts the authorization of a toolkit at its MCP server. It changes no connection yet.',
  })
  authorizeToolkit(@Ctx() ctx: Context, @Key('toolkit') id: string): Promise<Authorization> {
    return connections.authorizeToolkit(ctx, id);
  }

  @Can('toolkit:write')
  @Mutation(() => ID, {
    description: 'Ends the connection of a toolkit and revokes it at the server. Returns the `id` argument.',
  })
  async disconnectToolkit(@Ctx() ctx: Context, @Key('toolkit') id: string): Promise<string> {
    await connections.disconnect(ctx, { kind: 'toolkit', id });
    return id;
  }

  @FieldResolver(() => Connection, { nullable: true, description: 'The connection; null if there is none.' })
  connection(@Ctx() ctx: Context, @Root() { id }: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.find(Connection, { toolkitId: id }, info);
  }
}

@Resolver()
export class AuthorizationResolver {
  @Public()
  @Mutation(() => String, {
    description:
      'Completes an authorization: stores the connection. Requires a session of the user who started it. Returns the path to ' +
      'which the browser goes. This is for the redirect of REST, `/api/oauth/callback`.',
  })
  finishAuthorization(
    @Ctx() ctx: PublicContext,
    @Rule({ maxLength: 20_000 })
    @Arg('parameters', { description: 'Query string with which the provider sent the browser back.' })
    parameters: string,
    @Rule({ maxLength: 100 })
    @Arg('issuerDigest', () => String, {
      nullable: true,
      description: 'Last part of the redirect URI that the provider used. Null for libraries.',
    })
    issuerDigest?: string | null,
  ): Promise<string> {
    return finishAuthorization(ctx, parameters, issuerDigest ?? null);
  }
}

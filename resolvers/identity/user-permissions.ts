import { Arg, Ctx, Field, FieldResolver, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { forbidden } from '../../src/core/errors.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { GLOBAL_PERMISSIONS } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as permissions from '../../src/services/identity/user-permissions.ts';
import { Username } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'Superuser status of a user.' })
class SuperuserState {
  @Field(() => String, { description: 'Username.' }) username!: string;
  @Field(() => Boolean, {
    description: 'Whether the user is a superuser. Superusers have every permission in their tenant.',
  })
  superuser!: boolean;
}

/** Columns of a user row that the fields below require. */
interface PermissionsRow {
  username: string;
  superuser: boolean;
  permissions: string[];
}

const requireSuperuser = ({ viewer }: Context): void => {
  if (!viewer.superuser) throw forbidden({ permission: 'tenant:superuser' });
};

@Resolver(() => User)
export class UserPermissionsResolver {
  @Can('tenant:superuser')
  @Mutation(() => [String], {
    description:
      'Sets the global permissions of a user. Returns them as stored. Changing `tenant:superuser` requires a session.',
  })
  setGlobalPermissions(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('permissions', () => [String], {
      description: `New global permissions. They replace the current ones. Each is one of ${GLOBAL_PERMISSIONS.join(', ')}.`,
    })
    @Rule({ items: { enum: GLOBAL_PERMISSIONS } })
    words: string[],
  ) {
    return permissions.setPermissions(ctx, username, words);
  }

  @Can('tenant:superuser')
  @Mutation(() => SuperuserState, {
    description: 'Grants or revokes the superuser status of a user. Requires a session.',
  })
  async setSuperuser(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('superuser', { description: 'Whether the user is to be a superuser.' }) superuser: boolean,
  ): Promise<SuperuserState> {
    return { username: await permissions.setSuperuser(ctx, username, superuser), superuser };
  }

  @Requires('superuser', 'permissions')
  @FieldResolver(() => [String], {
    nullable: true,
    description: 'Global permissions of the user. Superusers only; `session` returns the permissions of the caller.',
  })
  globalPermissions(@Ctx() ctx: Context, @Root() user: PermissionsRow) {
    requireSuperuser(ctx);
    return permissions.permissionsOf(user);
  }

  @Requires('username', 'superuser')
  @FieldResolver(() => SuperuserState, {
    nullable: true,
    description: 'Superuser status of the user. Superusers only.',
  })
  superuserState(@Ctx() ctx: Context, @Root() user: PermissionsRow): SuperuserState {
    requireSuperuser(ctx);
    return { username: user.username, superuser: user.superuser };
  }
}

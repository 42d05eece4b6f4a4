import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { OwnedKind } from '../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import { ResourceKindEnum } from '../../entities/word-enum.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows, type ResourcePermission } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import { pageOf } from '../support/page.ts';
import { loadPrincipal, Principal } from './principal.ts';

@ObjectType({ description: 'A resource that uses another one.' })
export class Reference {
  @Field(() => ResourceKindEnum, { description: 'Kind of the using resource, e.g. `dataset` or `suite`.' })
  kind!: string;

  @UuidField()
  @Field(() => ID, { description: 'Id of the using resource.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;
}

@Resolver(() => Reference)
export class ReferenceResolver {
  @FieldResolver(() => ID, {
    nullable: true,
    description: 'Owner: user id or `team:<id>`; null for kinds without owners.',
  })
  ownerId(@Root() { ownerId }: { ownerId: string | null }): string | null {
    return ownerId && printPrincipal(ownerId);
  }

  @Requires('ownerId')
  @FieldResolver(() => Principal, {
    nullable: true,
    description: 'Owner, with the name to display; null for kinds without owners.',
  })
  owner(@Ctx() ctx: Context, @Root() { ownerId }: { ownerId: string | null }): Promise<Principal> | null {
    return ownerId ? loadPrincipal(ctx, ownerId) : null;
  }
}

export const ReferencePage = pageOf(Reference, 'Reference');

/** A page of references with the resource that they use. */
interface ResourceReferences {
  kindOf: OwnedKind<OwnedRow>;
  resource: AccessColumns;
}

@Resolver(() => ReferencePage)
export class ReferencePageResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'Number of further references that the caller may not read; null if the caller may not delete the resource.',
  })
  async hidden(
    @Ctx() ctx: Context,
    @Root() { kindOf: { entity, kind }, resource }: ResourceReferences,
  ): Promise<number | null> {
    if (!levelAllows(await accessLevel(ctx, resource), `${kind}:delete` as ResourcePermission)) return null;
    const [all, readable] = await Promise.all(
      (['allReferences', 'references'] as const).map((relation) =>
        ctx.read.children(entity as never, relation, { id: resource.id }, ['id']),
      ),
    );
    return all!.length - readable!.length;
  }
}

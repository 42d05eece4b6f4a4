import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { OwnedKind } from '../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows, type ResourcePermission } from '../../src/core/permissions.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import { pageOf } from '../support/page.ts';

/** Something that uses a resource. */
@ObjectType({ description: 'Something that uses a resource.' })
export class Reference {
  @Field(() => String, { description: 'What it is, e.g. `dataset` or `suite`.' })
  kind!: string;

  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;
}

@Resolver(() => Reference)
export class ReferenceResolver {
  @FieldResolver(() => ID, {
    nullable: true,
    description: 'The owner: id of a user, or `team:<id>`; null for what nobody owns.',
  })
  ownerId(@Root() { ownerId }: { ownerId: string | null }): string | null {
    return ownerId && printPrincipal(ownerId);
  }
}

export const ReferencePage = pageOf(Reference, 'Reference');

/** A page and whose it is. */
interface ResourceReferences {
  kindOf: OwnedKind<OwnedRow>;
  resource: AccessColumns;
}

@Resolver(() => ReferencePage)
export class ReferencePageResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'How many more there are that the caller may not read; null for those who may not delete the resource.',
  })
  async hidden(
    @Ctx() ctx: Context,
    @Root() { kindOf: { entity, kind }, resource }: ResourceReferences,
  ): Promise<number | null> {
    if (!levelAllows(await accessLevel(ctx, resource), `${kind}:delete` as ResourcePermission)) return null;
    const [all, read] = await Promise.all(
      (['allReferences', 'references'] as const).map((relation) =>
        ctx.read.children(entity as never, relation, { id: resource.id }, ['id']),
      ),
    );
    return all!.length - read!.length;
  }
}

import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Resolver, Root, type ClassType } from 'type-graphql';
import { Agent } from '../../entities/agent.ts';
import { AiProvider } from '../../entities/ai-provider.ts';
import { ApiClient } from '../../entities/api-client.ts';
import { ApiToken } from '../../entities/api-token.ts';
import { IdentityProvider } from '../../entities/identity-provider.ts';
import { Image } from '../../entities/image.ts';
import { Node } from '../../entities/node.ts';
import { Notification } from '../../entities/notification.ts';
import { Operation } from '../../entities/operation.ts';
import { SavedFilter } from '../../entities/saved-filter.ts';
import { SEARCHABLE_TYPES } from '../../entities/search-hit.ts';
import { Session } from '../../entities/session.ts';
import { TeamComment } from '../../entities/team-comment.ts';
import { UsageProfile } from '../../entities/usage-profile.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import type { EntityType, SelectionSource } from '../../src/core/read/reader.ts';
import { modelFor } from '../../src/services/resource/define-model.ts';
import { ChildPageArgs, type PageShape } from './page.ts';

/** The types of records by the kinds that activities, audit events, notifications and operations name. */
const TYPE_OF_KIND: Readonly<Record<string, EntityType>> = {
  ...SEARCHABLE_TYPES,
  filter: SavedFilter,
  agent: Agent,
  aiProvider: AiProvider,
  image: Image,
  apiClient: ApiClient,
  identityProvider: IdentityProvider,
  usageProfile: UsageProfile,
  comment: TeamComment,
  token: ApiToken,
  session: Session,
  operation: Operation,
  notification: Notification,
};

type Row = Record<string, unknown>;

/** Loads a record by its id, null if the caller may not read it. Loads of one tick share a statement. */
export async function loadById<T extends object>(
  ctx: Context,
  type: EntityType<T>,
  id: unknown,
  source: SelectionSource,
) {
  return typeof id === 'string' ? (await ctx.read.many(type, [id], source))[0]! : null;
}

/** Loads a record as a `Node`, null if the caller may not read it. GraphQL resolves its type from the value. */
export async function loadNode(ctx: Context, type: EntityType | undefined, id: unknown, info: GraphQLResolveInfo) {
  const row = type ? await loadById(ctx, type, id, info) : null;
  return row && { ...row, __typename: modelFor(type!).name };
}

/**
 * Declares a field with the record of a to-one relation of the model, which the read path joins. It is null if the
 * caller may not read the record.
 */
export function relationField(type: ClassType, name: string, target: ClassType, description: string): NewableFunction {
  @Resolver(() => type)
  class RelationField {
    @FieldResolver(() => target, { name, nullable: true, description })
    related(@Root() row: Row) {
      return row[name] ?? null;
    }
  }
  return RelationField;
}

/** Declares a field with a page of a to-many relation of the model, read by one statement for all parents. */
export function relationPage(
  type: ClassType,
  name: string,
  page: ClassType<PageShape<object>>,
  description: string,
): NewableFunction {
  @Resolver(() => type)
  class RelationPage {
    @FieldResolver(() => page, { name, description })
    related(
      @Ctx() ctx: Context,
      @Root() row: { id: string },
      @Args(() => ChildPageArgs) part: ChildPageArgs,
      @Info() info: GraphQLResolveInfo,
    ) {
      return ctx.read.childPage(type, name, row, info, part);
    }
  }
  return RelationPage;
}

/** Declares a field with the record whose id is in the property `idField`, null if the caller may not read it. */
export function recordField(
  type: ClassType,
  name: string,
  idField: string,
  target: ClassType,
  description: string,
  requires: readonly string[] = [],
): NewableFunction {
  @Resolver(() => type)
  class RecordField {
    @Requires(...requires)
    @FieldResolver(() => target, { name, nullable: true, description })
    record(@Ctx() ctx: Context, @Root() row: Row, @Info() info: GraphQLResolveInfo) {
      return loadById(ctx, target, row[idField], info);
    }
  }
  return RecordField;
}

/** Declares a field with the record of a kind and an id, null if the caller may not read it or it was deleted. */
export function nodeField(
  type: ClassType,
  name: string,
  kindField: string,
  idField: string,
  requires: readonly string[] = [kindField, idField],
): NewableFunction {
  @Resolver(() => type)
  class NodeField {
    @Requires(...requires)
    @FieldResolver(() => Node, {
      name,
      nullable: true,
      description: 'The record itself; null if it was deleted or the caller may not read it.',
    })
    node(@Ctx() ctx: Context, @Root() row: Row, @Info() info: GraphQLResolveInfo) {
      return loadNode(ctx, TYPE_OF_KIND[String(row[kindField])], row[idField], info);
    }
  }
  return NodeField;
}

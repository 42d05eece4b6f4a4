import { readdirSync } from 'node:fs';
import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import {
  GraphQLList,
  GraphQLNonNull,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { buildSchema, getMetadataStorage, type NonEmptyArray } from 'type-graphql';
import { withExpectedVersions } from '../../../resolvers/support/expected-version.ts';
import { guard, rootTypes } from '../../../resolvers/support/guard.ts';
import { limitSubscriptions } from '../../../resolvers/support/limit-subscriptions.ts';
import { ERROR_CODE_LIST } from '../../core/errors.ts';
import { DateTime } from '../../core/scalars.ts';
import { callResolversDirectly, readPlainFieldsDirectly } from './direct-resolvers.ts';
import { withFederation } from './federation.ts';
import { relaxDefaults, withInputRules } from './input-rules.ts';
import { markUuidColumns } from './uuid-fields.ts';

const FOLDER = new URL('../../../resolvers/', import.meta.url);

/** Imports all modules below resolvers/. Returns the classes that they declare with `@Resolver`. */
async function importResolvers(): Promise<NonEmptyArray<NewableFunction>> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  for (const name of files.toSorted()) await import(new URL(name, FOLDER).href);
  const [first, ...others] = getMetadataStorage().resolverClasses.map(({ target }) => target as NewableFunction);
  return [first!, ...others];
}

/** TypeGraphQL requires one. Our subscriptions have iterators of their own, which follow Postgres. */
const UNUSED_PUB_SUB = createPubSub();

/** Descriptions of the root types, which TypeGraphQL cannot set. */
const ROOT_DESCRIPTIONS: Record<string, string> = {
  Query: `Fields that read data. They run in parallel. Errors have one of these \`extensions.code\`:\n${ERROR_CODE_LIST}`,
  Mutation: 'Fields that change data. They run one after the other. Each is recorded in the audit log.',
  Subscription: 'Fields that deliver values as they change, over WebSocket.',
};

/** Sets the descriptions of the root types. Changes and returns the schema. */
function describeRootTypes(schema: GraphQLSchema): GraphQLSchema {
  for (const [, type] of rootTypes(schema)) type!.description = ROOT_DESCRIPTIONS[type!.name];
  return schema;
}

/** Returns a type whose inner lists are not nullable, which TypeGraphQL gives the nullability of their items. */
function withInnerLists(type: GraphQLOutputType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(withInnerLists(type.ofType as never) as never);
  if (!isListType(type)) return type;
  const item = withInnerLists(type.ofType as GraphQLOutputType);
  return new GraphQLList(isListType(item) ? new GraphQLNonNull(item) : item);
}

/** Gives all fields types with required inner lists. Changes and returns the schema. */
function requireInnerLists(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type))
      for (const field of Object.values(type.getFields())) field.type = withInnerLists(field.type);
  return schema;
}

/** Creates the schema. Every root field checks its permission, then its arguments, before its resolver runs. */
export async function createSchema(): Promise<GraphQLSchema> {
  readPlainFieldsDirectly();
  const schema = await buildSchema({
    resolvers: (await importResolvers()) as never,
    scalarsMap: [{ type: Date, scalar: DateTime }],
    validate: false,
    skipCheck: false,
    pubSub: UNUSED_PUB_SUB,
  });
  const direct = requireInnerLists(markUuidColumns(callResolversDirectly(schema)));
  return guard(
    limitSubscriptions(withInputRules(withFederation(withExpectedVersions(relaxDefaults(describeRootTypes(direct)))))),
  );
}

import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { createPubSub } from '@graphql-yoga/subscription';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, getMetadataStorage, type NonEmptyArray } from 'type-graphql';
import { guard } from '../../../resolvers/support/guard.ts';
import { DateTime } from '../../core/scalars.ts';
import { directResolvers, plainFields } from './direct-resolvers.ts';
import { withFederation } from './federation.ts';

const FOLDER = new URL('../../../resolvers/', import.meta.url);

/** Imports all modules below resolvers/. Returns the classes that they declare with `@Resolver`. */
async function importResolvers(): Promise<NonEmptyArray<NewableFunction>> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[\w-]+\.[jt]s$/.test(name),
  );
  for (const name of files.toSorted()) await import(new URL(name, FOLDER).href);
  const [first, ...others] = getMetadataStorage().resolverClasses.map(({ target }) => target as NewableFunction);
  return [first!, ...others];
}

/** TypeGraphQL asks for one; our subscriptions follow Postgres and bring their own iterators. */
const UNUSED = createPubSub();

/** The one schema, guarded: every root field checks its permission before its resolver runs. */
export async function createSchema(): Promise<GraphQLSchema> {
  plainFields();
  return guard(
    withFederation(
      directResolvers(
        await buildSchema({
          resolvers: (await importResolvers()) as never,
          scalarsMap: [{ type: Date, scalar: DateTime }],
          validate: false,
          skipCheck: false,
          pubSub: UNUSED,
        }),
      ),
    ),
  );
}

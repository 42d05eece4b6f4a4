import { MetadataStorage } from '@mikro-orm/core';
import { isObjectType, type GraphQLSchema } from 'graphql';
import { resolverMetadata } from './resolver-metadata.ts';

/** Marks the output fields whose column in the database is a UUID, as `@UuidField` does. Changes and returns the schema. */
export function markUuidColumns(schema: GraphQLSchema): GraphQLSchema {
  const columnTypes = new Map(
    Object.values(MetadataStorage.getMetadata()).map(({ class: target, properties }) => [
      target as object,
      properties as Record<string, { type?: string } | undefined>,
    ]),
  );
  const isUuidColumn = (target: unknown, property: string): boolean => {
    for (let at = target as object | null; at; at = Object.getPrototypeOf(at) as object | null) {
      const column = columnTypes.get(at)?.[property];
      if (column) return column.type === 'uuid';
    }
    return false;
  };
  for (const { name, target } of resolverMetadata().objectTypes) {
    const type = schema.getType(name);
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields()))
      if (isUuidColumn(target, field.name)) field.extensions = { ...field.extensions, isUuid: true };
  }
  return schema;
}

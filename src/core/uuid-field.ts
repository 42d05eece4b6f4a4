import { Extensions } from 'type-graphql';

/**
 * Declares that the values of an output field are UUIDs. The OpenAPI document prints `format: uuid`. Fields of entities
 * whose column is a UUID need no declaration.
 */
export const UuidField = () => Extensions({ isUuid: true });

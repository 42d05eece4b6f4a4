import { Extensions } from 'type-graphql';

/**
 * Declares that the values of an output field of the type `Float` are whole numbers, which may exceed the 32 bits of `Int`.
 * The OpenAPI document prints them as integers.
 */
export const WholeNumber = () => Extensions({ isWholeNumber: true });

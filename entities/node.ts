import { Field, ID, InterfaceType } from 'type-graphql';

/** What can be found by its id alone. */
@InterfaceType({ description: 'What can be found by its id alone, by `node(id)`.' })
export abstract class Node {
  @Field(() => ID, { description: 'UUID, version 7.' })
  id!: string;
}

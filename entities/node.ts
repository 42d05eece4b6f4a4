import { Field, ID, InterfaceType } from 'type-graphql';

/** What can be found by its id alone. */
@InterfaceType({
  description: 'What can be found by its id alone, by `node(id)`.',
  resolveType: (row: { __typename: string }) => row.__typename,
})
export abstract class Node {
  @Field(() => ID, { description: 'UUID, version 7.' })
  id!: string;
}

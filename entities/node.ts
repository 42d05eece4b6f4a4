import { Field, ID, InterfaceType } from 'type-graphql';

/** A resource that `node(id)` finds. */
@InterfaceType({
  description: 'A resource that `node(id)` finds.',
  resolveType: (row: { __typename: string }) => row.__typename,
})
export abstract class Node {
  @Field(() => ID, { description: 'UUID, version 7.' })
  id!: string;
}

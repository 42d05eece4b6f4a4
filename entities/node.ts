import { Field, ID, InterfaceType } from 'type-graphql';
import { UuidField } from '../src/core/uuid-field.ts';

@InterfaceType({
  description: 'A resource that `node(id)` finds.',
  resolveType: (row: { __typename: string }) => row.__typename,
})
export abstract class Node {
  @UuidField()
  @Field(() => ID, { description: 'UUID, version 7.' })
  id!: string;
}

import { Field, ID, InputType } from 'type-graphql';
import { ShareInput } from './share-input.ts';

@InputType({
  description:
    'The access that a share of a dataset grants. When an existing share is updated, absent keys are unchanged.',
})
export class DatasetShareInput extends ShareInput {
  @Field(() => ID, {
    nullable: true,
    description: 'Saved filter that restricts the share to matching rows; null for all rows.',
  })
  datasetFilterId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the share is restricted to `visibleFields`. True requires `fieldSecurityEnabled` on the dataset. ' +
      'Default: false.',
  })
  restrictFields?: boolean | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Names of the fields to show if `restrictFields` is true. Fields that a refresh adds stay hidden.',
  })
  visibleFields?: string[] | null;
}

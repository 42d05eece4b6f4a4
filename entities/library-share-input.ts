import { Field, InputType, registerEnumType } from 'type-graphql';
import { LEVEL, type ShareLevel } from '../src/core/permissions.ts';
import { ShareInput } from './share-input.ts';

const LibraryShareLevelEnum = { NONE: LEVEL.none, VIEW: LEVEL.view } as const satisfies Record<string, ShareLevel>;
registerEnumType(LibraryShareLevelEnum, {
  name: 'LibraryShareLevel',
  description: 'Access level that a share of a library grants. REST has the numbers 0 (None) and 1 (View).',
  valuesConfig: {
    NONE: { description: 'Grants nothing.' },
    VIEW: { description: 'Can read the library and its files.' },
  },
});

@InputType({ description: 'The access that a share of a library grants.' })
export class LibraryShareInput extends ShareInput {
  @Field(() => LibraryShareLevelEnum, { description: 'Access level.' })
  override accessLevel!: ShareLevel;
}

import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID_RULE } from '../src/core/input-rules.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';

@InputType({ description: 'Changes to a library. Absent keys are unchanged, and null clears a value.' })
export class UpdateLibraryInput extends UpdateOwnedInput {
  @Rule(UUID_RULE)
  @Field(() => ID, {
    nullable: true,
    description: 'Id of its integration; null for none. Another one than before ends its connection.',
  })
  integrationId?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Selection of its files: `rootId` (id of a folder at the provider, for Dropbox also its path; null, the default: all files), ' +
      '`extensions` (at most 100, ' +
      'e.g. `pdf`; empty, the default: all), `maxFileBytes` (1 to 5,000,000,000; default 100,000,000). Replaces all previous ' +
      'settings; null sets the defaults. The next sync after a change is a full one.',
  })
  settings?: Record<string, unknown> | null;
}

@InputType({ description: 'A new library.' })
export class CreateLibraryInput extends UpdateLibraryInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;
}

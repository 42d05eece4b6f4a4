import { Field, ID, InputType } from 'type-graphql';
import { NAME_RULE, Rule, UUID_RULE } from '../src/core/input-rules.ts';

@InputType({ description: 'Changes to a folder. Absent keys are unchanged.' })
export class UpdateFolderInput {
  @Rule(NAME_RULE)
  @Field(() => String, {
    nullable: true,
    description: 'Display name, 1 to 255 characters. Siblings may have equal names.',
  })
  name?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the parent folder; null for the top level.' })
  parentId?: string | null;
}

@InputType({ description: 'A new folder.' })
export class CreateFolderInput extends UpdateFolderInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters. Siblings may have equal names.' })
  override name!: string;
}

@InputType({ description: 'A new folder in a bulk update.' })
export class AddFolderInput extends CreateFolderInput {
  @Rule(UUID_RULE)
  @Field(() => ID, {
    description: 'UUID that the client generates, so that other new folders can name it as their parent.',
  })
  id!: string;
}

@InputType({ description: 'Changes to a folder in a bulk update. Absent keys are unchanged.' })
export class ChangeFolderInput extends UpdateFolderInput {
  @Field(() => ID, { description: 'Id of the folder.' })
  id!: string;
}

@InputType({ description: 'Changes to many folders, at most 1000 in total. Either all of them are applied or none.' })
export class BulkUpdateFoldersInput {
  @Field(() => [ID], {
    nullable: true,
    description: 'Folders to delete, before all other changes, with all folders inside them.',
  })
  remove?: string[] | null;

  @Field(() => [AddFolderInput], {
    nullable: true,
    description: 'Folders to create, after the deletions. A parent may be among them, in any order.',
  })
  add?: AddFolderInput[] | null;

  @Field(() => [ChangeFolderInput], { nullable: true, description: 'Folders to update, after the creations.' })
  update?: ChangeFolderInput[] | null;
}

import { Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';

const LibraryChangeActionEnum = { ADD: 'add', UPDATE: 'update', DELETE: 'delete' } as const;
type LibraryChangeAction = (typeof LibraryChangeActionEnum)[keyof typeof LibraryChangeActionEnum];
registerEnumType(LibraryChangeActionEnum, {
  name: 'LibraryChangeAction',
  description: 'Action that a sync would take for a file.',
  valuesConfig: {
    ADD: { description: 'Add a file with its contents.' },
    UPDATE: { description: 'Replace the contents, or move the file.' },
    DELETE: { description: 'Delete the file.' },
  },
});

@ObjectType({ description: 'A file or folder that a sync could not read. The next sync tries again.' })
export class LibrarySyncError {
  @Field(() => String, { description: 'Id of the file or folder at the provider.' })
  fileId!: string;

  @Field(() => String, { description: 'Path of the file or folder.' })
  path!: string;

  @Field(() => String, { description: 'Code of the error.' })
  code!: string;

  @Field(() => String, { description: 'Message of the error.' })
  message!: string;
}

@ObjectType({ description: 'Preview of how a sync would treat a file.' })
export class LibrarySyncChange {
  @Field(() => LibraryChangeActionEnum, { description: 'Planned action of the sync.' })
  action!: LibraryChangeAction;

  @Field(() => String, { description: 'Id of the file at the provider.' })
  fileId!: string;

  @Field(() => String, { description: 'Path of the file.' })
  path!: string;

  @Field(() => Float, { nullable: true, description: 'Size in bytes; null if it is unknown.' })
  size!: number | null;
}

/** The result of a sync of a library. Numbers are of files whose contents the library keeps, unless they say otherwise. */
@ObjectType({ description: 'Result of a sync of a library.' })
export class LibrarySync {
  @Field(() => Int, { description: 'Number of files with the status `synced`.' })
  syncedFiles!: number;

  @Field(() => Int, { description: 'Number of files whose contents are new in the library.' })
  addedFiles!: number;

  @Field(() => Int, { description: 'Number of files that have new contents or were moved or renamed.' })
  updatedFiles!: number;

  @Field(() => Int, { description: 'Number of files that were deleted with their contents.' })
  deletedFiles!: number;

  @Field(() => Int, { description: 'Number of files with the status `skipped`.' })
  skippedFiles!: number;

  @Field(() => [LibrarySyncError], { description: 'Files and folders that could not be read, at most 1,000.' })
  errors!: LibrarySyncError[];

  @Field(() => Int, { description: 'Number of files and folders that could not be read.' })
  errorCount!: number;

  @Field(() => Boolean, { description: 'Whether all files were listed, not only changes.' })
  full!: boolean;

  @Field(() => Boolean, { description: 'Whether nothing was stored.' })
  dryRun!: boolean;

  @Field(() => [LibrarySyncChange], {
    nullable: true,
    description: 'Of a dry run: the files that a sync would change, at most 1,000. Otherwise null.',
  })
  changes!: LibrarySyncChange[] | null;
}

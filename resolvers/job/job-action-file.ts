import { Arg, Ctx, Field, FieldResolver, ID, Mutation, ObjectType, Resolver, Root, Subscription } from 'type-graphql';
import { SetJobActionFileInput } from '../../entities/job-action-input.ts';
import { JobAction, JobActionFile } from '../../entities/job-action.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as files from '../../src/services/job/job-action-file.ts';
import { ChunkEncodingEnum } from '../dataset/export-types.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A chunk of the file of an action. Chunks arrive in order.' })
export class JobActionFileChunk implements files.JobFileChunk {
  @Field(() => String, { description: 'Bytes in Base64, to be decoded chunk by chunk.' })
  text!: string;

  @Field(() => ChunkEncodingEnum, { description: 'Encoding of `text`.' })
  encoding!: 'base64';

  @Field(() => String, { description: 'Name of the file.' })
  filename!: string;

  @Field(() => String, { description: 'Media type of the file.' })
  contentType!: string;

  @Field(() => String, { description: 'SHA-256 of the whole file, in hexadecimal.' })
  sha256!: string;
}

const FILE_COLUMNS = ['type', 'storedFile', 'exportedDatasetId', 'usedDataset.id', 'job.ownerId'] as const;

@Resolver(() => JobAction)
export class JobActionFileResolver {
  @Requires(...FILE_COLUMNS)
  @FieldResolver(() => JobActionFile, {
    nullable: true,
    description: 'The file of the action. Null without one, and for callers who may not read it.',
  })
  file(@Ctx() ctx: Context, @Root() action: files.ActionWithFile): Promise<JobActionFile | null> {
    return files.visibleFile(ctx, action);
  }

  @Requires('jobId', ...FILE_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description: 'Path of the file of the action. Null without one, and for callers who may not read it.',
  })
  fileUrl(@Ctx() ctx: Context, @Root() action: files.ActionWithFile): Promise<string | null> {
    return files.fileUrl(ctx, action);
  }

  @Can('job:edit')
  @Mutation(() => ID, {
    description:
      'Replaces the file that is kept with an action, which emails can attach. Returns the `jobActionId` argument.',
  })
  async setJobActionFile(
    @Ctx() ctx: Context,
    @Key('job', 'jobId') jobId: string,
    @Id('action', 'jobActionId') id: string,
    @Arg('input', { description: 'The file.' }) input: SetJobActionFileInput,
  ) {
    await files.setFile(ctx, jobId, id, input);
    return id;
  }

  @Can('authenticated')
  @Subscription(() => JobActionFileChunk, {
    description:
      'Emits the file of an action in chunks and completes after the last one. In REST it is the response of ' +
      '`GET /jobs/{id}/actions/{jobActionId}/action-file-contents`. Fails with `NOT_FOUND` without a file.',
    subscribe: ({ context, args }) => {
      const { jobId, jobActionId } = args as { jobId: string; jobActionId: string };
      return files.readFile(context as Context, jobId, jobActionId) as never;
    },
  })
  jobActionFile(
    @Root() chunk: JobActionFileChunk,
    @Key('job', 'jobId') _jobId: string,
    @Id('action', 'jobActionId') _id: string,
  ): JobActionFileChunk {
    return chunk;
  }
}

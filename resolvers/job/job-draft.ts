import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Job } from '../../entities/job.ts';
import type { Context } from '../../src/core/context.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import * as drafts from '../../src/services/job/job-draft.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'The draft of a job.' })
export class JobDraft {
  @UuidField()
  @Field(() => ID, { description: 'Id of the draft.' })
  id!: string;

  @Field(() => String, { description: 'Display name of the draft.' })
  name!: string;

  @UuidField()
  @Field(() => ID, { description: 'Id of the job.' })
  editingId!: string;

  @Field(() => Boolean, { description: 'Whether the draft is new. False if there was one.' })
  created!: boolean;
}

@Resolver(() => JobDraft)
export class JobDraftResolver {
  @Can('job:edit')
  @Mutation(() => JobDraft, {
    description:
      'Returns the draft of a job. All users share it. If there is none, creates it as a copy of the ' +
      'job with its datasets, actions and run conditions. A draft is a job that no list contains and that is not scheduled.',
  })
  editJob(@Ctx() ctx: Context, @Key('job') id: string): Promise<JobDraft> {
    return drafts.edit(ctx, id);
  }

  @Can('job:edit')
  @Mutation(() => Job, {
    description:
      'Replaces the fields, datasets, actions and run conditions of a job with the contents of its draft, and deletes the ' +
      'draft. Actions that the draft has kept keep their ids. Takes the id of the draft and returns the job.',
  })
  async commitJobDraft(@Ctx() ctx: Context, @Key('draft') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Job, await drafts.commit(ctx, id), info);
  }

  @FieldResolver(() => Job, { nullable: true, description: 'The draft, as a job.' })
  job(@Ctx() ctx: Context, @Root() { id }: JobDraft, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Job, id, info);
  }

  @FieldResolver(() => Job, { nullable: true, description: 'The job that the draft changes.' })
  editing(@Ctx() ctx: Context, @Root() { editingId }: JobDraft, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Job, editingId, info);
  }
}

@Resolver(() => Job)
export class DraftedJobResolver {
  @FieldResolver(() => Job, { nullable: true, description: 'Draft of the job; null if there is none.' })
  async draft(@Ctx() ctx: Context, @Root() job: { id: string }, @Info() info: GraphQLResolveInfo) {
    const [draft] = await ctx.read.children<Job>(Job, 'drafts', job, info);
    return draft ?? null;
  }
}

import { Arg, Ctx, Field, FieldResolver, ID, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { DateTime, JsonObject } from '../../src/core/scalars.ts';
import * as userSettings from '../../src/services/dataset/user-setting.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

/** What the caller keeps for a dataset. */
@ObjectType({ description: 'What the caller’s front-ends keep for a dataset; nobody else sees it.' })
export class UserSettings implements userSettings.UserSettings {
  @Field(() => JsonObject, { description: 'Whatever they like; empty when there are none.' }) settings!: Record<
    string,
    unknown
  >;
  @Field(() => DateTime, { nullable: true, description: 'When they were last kept; null when there are none.' })
  updatedAt!: string | null;
}

@Resolver(() => Dataset)
export class UserSettingResolver {
  @Can('dataset:read')
  @Mutation(() => UserSettings, {
    description:
      'Keeps settings of the caller for a dataset in place of those before, at most 100 kB; of a draft or snapshot for the dataset it belongs to.',
  })
  setDatasetUserSettings(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('settings', () => JsonObject, { description: 'Whatever the front-end likes.' }) settings: Record<
      string,
      unknown
    >,
  ) {
    return userSettings.set(ctx, id, settings);
  }

  @Can('dataset:read')
  @Mutation(() => ID, {
    description: 'Forgets the caller’s settings for a dataset, where there are any; answers its id as given.',
  })
  async deleteDatasetUserSettings(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await userSettings.remove(ctx, id);
    return id;
  }

  @Requires('ownSettings.settings', 'ownSettings.updatedAt')
  @FieldResolver(() => UserSettings, {
    description: 'What the caller keeps for it; of a draft or snapshot for the dataset it belongs to.',
  })
  userSettings(@Root() { ownSettings }: { ownSettings: userSettings.OwnSettings }): UserSettings {
    return userSettings.shownSettings(ownSettings);
  }

  @Requires('ownSettings.id')
  @FieldResolver(() => Boolean, {
    description: 'Whether the caller keeps settings for it; of a draft or snapshot for the dataset it belongs to.',
  })
  hasUserSettings(@Root() { ownSettings }: { ownSettings: userSettings.OwnSettings }): boolean {
    return ownSettings !== null;
  }
}

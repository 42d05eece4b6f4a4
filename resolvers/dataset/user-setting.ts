import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { UserSettings } from '../../entities/user-setting.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as userSettings from '../../src/services/dataset/user-setting.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@Resolver(() => Dataset)
export class UserSettingResolver {
  @Can('dataset:read')
  @Mutation(() => UserSettings, {
    description:
      'Replaces the caller’s settings for a dataset, at most 100 kB as JSON. ' +
      'A draft or snapshot shares the settings of its dataset.',
  })
  setDatasetUserSettings(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('settings', () => JsonObject, { description: 'Any JSON object.' })
    settings: Record<string, unknown>,
  ) {
    return userSettings.set(ctx, id, settings);
  }

  @Can('dataset:read')
  @Mutation(() => ID, {
    description: 'Deletes the caller’s settings for a dataset. Returns the `id` argument.',
  })
  async deleteDatasetUserSettings(@Ctx() ctx: Context, @Key('dataset') id: string) {
    await userSettings.remove(ctx, id);
    return id;
  }

  @Requires('ownSettings.settings', 'ownSettings.updatedAt')
  @FieldResolver(() => UserSettings, {
    description: 'The caller’s settings for the dataset. A draft or snapshot shares the settings of its dataset.',
  })
  userSettings(@Root() { ownSettings }: { ownSettings: UserSettings | null }): UserSettings {
    return userSettings.settingsOrDefault(ownSettings);
  }

  @Requires('ownSettings.id')
  @FieldResolver(() => Boolean, {
    description:
      'Whether the caller has settings for the dataset. A draft or snapshot shares the settings of its dataset.',
  })
  hasUserSettings(@Root() { ownSettings }: { ownSettings: UserSettings | null }): boolean {
    return ownSettings !== null;
  }
}

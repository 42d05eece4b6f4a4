import { Arg, Ctx, Field, FieldResolver, ID, ObjectType, registerEnumType, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { TeamRoleEnum } from '../../entities/team-member.ts';
import type { Context } from '../../src/core/context.ts';
import { abilitiesAt, type LevelWord, type TeamRole } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as access from '../../src/services/dataset/dataset-access.ts';
import { VIEWED, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import { permissionsType } from '../resource/permissions-type.ts';
import { Principal } from '../resource/principal.ts';

export const AccessLevelEnum = {
  NONE: 'none',
  VIEW: 'view',
  EDIT: 'edit',
  ADMIN: 'admin',
  OWNER: 'owner',
} as const satisfies Record<string, LevelWord>;
registerEnumType(AccessLevelEnum, {
  name: 'AccessLevel',
  description: 'How much somebody may do to a resource.',
  valuesConfig: {
    NONE: { description: 'Nothing.' },
    VIEW: { description: 'Read it.' },
    EDIT: { description: 'Change it too.' },
    ADMIN: { description: 'Share and delete it too.' },
    OWNER: { description: 'Everything.' },
  },
});

export const AccessReasonEnum = {
  SUPERUSER: 'superuser',
  OWNER: 'owner',
  TEAM: 'team',
  SHARE: 'share',
} as const satisfies Record<string, access.AccessReason['via']>;
registerEnumType(AccessReasonEnum, {
  name: 'AccessReasonKind',
  description: 'What gives access to a resource.',
  valuesConfig: {
    SUPERUSER: { description: 'The permission `tenant:superuser`.' },
    OWNER: { description: 'Owning it.' },
    TEAM: { description: 'A role in the team that owns it.' },
    SHARE: { description: 'A share.' },
  },
});

/** One of the reasons why somebody has access. */
@ObjectType({
  description:
    'One of the reasons why somebody has access to a dataset. The strongest counts; shares that show a part count only where nothing shows the whole.',
})
export class AccessReason {
  @Field(() => AccessReasonEnum, { description: 'What gives it.' }) via!: access.AccessReason['via'];
  @Field(() => AccessLevelEnum, { description: 'The level it gives by itself.' }) level!: LevelWord;
  @Field(() => TeamRoleEnum, { nullable: true, description: 'Of the team that owns it: the role there.' })
  role!: TeamRole | null;
  @Field(() => Principal, { nullable: true, description: 'The owner, or whom the share is for.' })
  principal!: Principal | null;
  @Field(() => ID, { nullable: true, description: 'Of a share: the saved filter whose rows alone it shows.' })
  datasetFilterId!: string | null;
  @Field(() => String, { nullable: true, description: 'Name of that filter, to those who may share the dataset.' })
  filter!: string | null;
  @Field(() => [String], { nullable: true, description: 'Of a share: the fields that alone it shows.' })
  visibleFields!: string[] | null;
  @Field(() => String, { description: 'The same in a sentence.' }) message!: string;
}

/** What somebody sees of a dataset and may do to it, and why. */
@ObjectType({ description: 'What somebody sees of a dataset and may do to it, and why.' })
export class DatasetAccess {
  @Field(() => Principal, { description: 'Who; of a team what each of its members is.' }) principal!: Principal;
  @Field(() => AccessLevelEnum, { description: 'The level that counts.' }) level!: LevelWord;
  @Field(() => Boolean, {
    description: 'Whether shares show a part of it, and so give `read` and `addVisual` at most.',
  })
  partial!: boolean;
  @Field(() => [AccessReason], { description: 'Why: ownership, teams, shares, permissions.' }) because!: AccessReason[];
  @Field(() => JsonObject, {
    nullable: true,
    description: 'Criteria of the rows that are shown; null for all, and to those who may not share the dataset.',
  })
  rowFilter!: Record<string, unknown> | null;
  @Field(() => Boolean, { description: 'Whether all rows are shown.' }) allRows!: boolean;
  @Field(() => [String], { description: 'Names of the fields that are shown.' }) visibleFields!: string[];
  @Field(() => [String], {
    nullable: true,
    description: 'Names of those that are hidden; null to those from whom they are.',
  })
  hiddenFields!: string[] | null;
}

@Resolver(() => DatasetAccess)
export class DatasetAccessResolver {
  @FieldResolver(() => permissionsType('dataset', 'Dataset'), { description: 'What they may do to it.' })
  permissions(@Root() { grade }: access.DatasetAccess) {
    return abilitiesAt('dataset', grade);
  }
}

@Resolver(() => Dataset)
export class DatasetAccessFields {
  @Requires(...VIEWED)
  @FieldResolver(() => DatasetAccess, {
    description: 'What somebody sees of it and may do to it, and why: oneself, or for those who may share it anybody.',
  })
  access(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset,
    @Arg('principal', () => ID, {
      nullable: true,
      description: 'Who: `user:<id>`, `team:<id>`, a user’s id or name; by default the caller.',
    })
    principal?: string,
  ) {
    return access.explain(ctx, dataset, principal);
  }
}

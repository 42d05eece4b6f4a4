import { Arg, Ctx, Field, FieldResolver, ID, ObjectType, registerEnumType, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { TeamRoleEnum } from '../../entities/team-member.ts';
import type { Context } from '../../src/core/context.ts';
import { abilitiesAt, type LevelWord, type TeamRole } from '../../src/core/permissions.ts';
import { Criteria } from '../../src/core/query-language.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import * as access from '../../src/services/dataset/dataset-access.ts';
import { VIEW_COLUMNS, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import { permissionsType } from '../resource/permissions-type.ts';
import { Principal } from '../resource/principal.ts';

const AccessLevelEnum = {
  NONE: 'none',
  VIEW: 'view',
  EDIT: 'edit',
  ADMIN: 'admin',
  OWNER: 'owner',
} as const satisfies Record<string, LevelWord>;
registerEnumType(AccessLevelEnum, {
  name: 'AccessLevel',
  description: 'Level of access to a resource. Each level includes the lower ones.',
  valuesConfig: {
    NONE: { description: 'No access.' },
    VIEW: { description: 'Can read the resource.' },
    EDIT: { description: 'Can also update the resource.' },
    ADMIN: { description: 'Can also share and delete the resource.' },
    OWNER: { description: 'Has every permission.' },
  },
});

const AccessReasonEnum = {
  SUPERUSER: 'superuser',
  OWNER: 'owner',
  TEAM: 'team',
  SHARE: 'share',
} as const satisfies Record<string, access.AccessReason['via']>;
registerEnumType(AccessReasonEnum, {
  name: 'AccessReasonKind',
  description: 'Source of access to a resource.',
  valuesConfig: {
    SUPERUSER: { description: 'The permission `tenant:superuser`.' },
    OWNER: { description: 'Ownership.' },
    TEAM: { description: 'A role in the team that owns the resource.' },
    SHARE: { description: 'A share.' },
  },
});

/** A reason for the access of a principal. */
@ObjectType({
  description:
    'A reason for the access of a user or team to a dataset. The highest level applies. A share that is restricted ' +
    'to some rows or fields applies only if no reason grants unrestricted access.',
})
export class AccessReason implements access.AccessReason {
  @Field(() => AccessReasonEnum, { description: 'Source of the access.' })
  via!: access.AccessReason['via'];

  @Field(() => AccessLevelEnum, { description: 'Level that this reason grants by itself.' })
  level!: LevelWord;

  @Field(() => TeamRoleEnum, { nullable: true, description: 'For `TEAM`: the role in the team.' })
  role!: TeamRole | null;

  @Field(() => Principal, {
    nullable: true,
    description: 'The owner, or the recipient of the share; null for `SUPERUSER`.',
  })
  principal!: access.AccessReason['principal'];

  @UuidField()
  @Field(() => ID, {
    nullable: true,
    description: 'For `SHARE`: the saved filter that restricts its rows; null for all rows.',
  })
  datasetFilterId!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Name of the saved filter; null to a caller without the permission `dataset:share`.',
  })
  filter!: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'For `SHARE`: names of the fields to which it is restricted; null for all fields.',
  })
  visibleFields!: string[] | null;

  @Field(() => String, { description: 'The reason as a sentence.' })
  message!: string;
}

@ObjectType({ description: 'Access of a user or team to a dataset, with its reasons.' })
export class DatasetAccess implements Omit<access.DatasetAccess, 'grade'> {
  @Field(() => Principal, { description: 'The user or team. For a team: the access of each member through the team.' })
  principal!: access.DatasetAccess['principal'];

  @Field(() => AccessLevelEnum, { description: 'Effective level.' })
  level!: LevelWord;

  @Field(() => Boolean, {
    description:
      'Whether access is restricted to some rows or fields. It then includes the permissions `read` and `addVisual` ' +
      'at most.',
  })
  partial!: boolean;

  @Field(() => [AccessReason], { description: 'Reasons: superuser permission, ownership, team role, shares.' })
  because!: AccessReason[];

  @Field(() => Criteria, {
    nullable: true,
    description:
      'Criteria of the visible rows; null for all rows, and to a caller without the permission `dataset:share`.',
  })
  rowFilter!: Record<string, unknown> | null;

  @Field(() => Boolean, { description: 'Whether all rows are visible.' })
  allRows!: boolean;

  @Field(() => [String], { description: 'Names of the visible fields.' })
  visibleFields!: string[];

  @Field(() => [String], {
    nullable: true,
    description:
      'Names of the hidden fields. If there may be any: null to a caller without the permission `dataset:share`.',
  })
  hiddenFields!: string[] | null;
}

@Resolver(() => DatasetAccess)
export class DatasetAccessResolver {
  @FieldResolver(() => permissionsType('dataset', 'Dataset'), { description: 'Permissions on the dataset.' })
  permissions(@Root() { grade }: access.DatasetAccess) {
    return abilitiesAt('dataset', grade);
  }
}

@Resolver(() => Dataset)
export class DatasetAccessFields {
  @Requires(...VIEW_COLUMNS)
  @FieldResolver(() => DatasetAccess, {
    description: 'Access of the caller or, with the permission `dataset:share`, of any user or team, with its reasons.',
  })
  access(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset,
    @Arg('principal', () => ID, {
      nullable: true,
      description: 'User or team: `user:<id>`, `team:<id>`, or the id or name of a user. Default: the caller.',
    })
    principal?: string,
  ) {
    return access.explainAccess(ctx, dataset, principal);
  }
}

import 'reflect-metadata';
import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, UnderscoreNamingStrategy, type Options } from '@mikro-orm/postgresql';
import { Activity } from '../../../entities/activity.ts';
import { ApiToken } from '../../../entities/api-token.ts';
import { App } from '../../../entities/app.ts';
import { AuditEvent } from '../../../entities/audit-event.ts';
import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { Favorite } from '../../../entities/favorite.ts';
import { Folder } from '../../../entities/folder.ts';
import { Generation } from '../../../entities/generation.ts';
import { Mail } from '../../../entities/mail.ts';
import { Notification } from '../../../entities/notification.ts';
import { Operation } from '../../../entities/operation.ts';
import { PasswordReset } from '../../../entities/password-reset.ts';
import { Report } from '../../../entities/report.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { Session } from '../../../entities/session.ts';
import { Share } from '../../../entities/share.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { Tag } from '../../../entities/tag.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { Tenant } from '../../../entities/tenant.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { User } from '../../../entities/user.ts';
import { Visual } from '../../../entities/visual.ts';

/** All entities. */
export const ENTITIES = [
  Tenant,
  User,
  UserSetting,
  Session,
  ApiToken,
  Team,
  TeamMember,
  Datasource,
  SavedQuery,
  Dataset,
  Generation,
  Operation,
  Mail,
  Notification,
  PasswordReset,
  StoredFile,
  Share,
  SavedFilter,
  Visual,
  Folder,
  Report,
  App,
  DatasetReference,
  DatasourceLink,
  Suite,
  SuiteMember,
  Tag,
  TagAssignment,
  Favorite,
  Activity,
  AuditEvent,
];

/** Returns the options of MikroORM: those that are the same everywhere, and the given ones. */
export const ormOptions = (more: Partial<Options>): Options =>
  ({
    entities: ENTITIES,
    metadataProvider: ReflectMetadataProvider,
    namingStrategy: UnderscoreNamingStrategy,
    extensions: [Migrator],
    schema: 'dws',
    forceUtcTimezone: true,
    ...more,
  }) as Options;

export { MikroORM };

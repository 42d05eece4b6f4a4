import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, type NonEmptyArray } from 'type-graphql';
import { AppOwnedFields, AppResolver } from '../../../resolvers/app/app.ts';
import { DatasetAccessFields, DatasetAccessResolver } from '../../../resolvers/dataset/dataset-access.ts';
import { DatasetBenchmarkResolver } from '../../../resolvers/dataset/dataset-benchmark.ts';
import { DatasetCopyResolver } from '../../../resolvers/dataset/dataset-copy.ts';
import { DatasetDataResolver, DatasetRowsResolver } from '../../../resolvers/dataset/dataset-data.ts';
import { DatasetRunResolver } from '../../../resolvers/dataset/dataset-run.ts';
import { DatasetShareResolver } from '../../../resolvers/dataset/dataset-share.ts';
import { DatasetOwnedFields, DatasetResolver } from '../../../resolvers/dataset/dataset.ts';
import { DatasetDraftResolver } from '../../../resolvers/dataset/draft.ts';
import { RefreshPreviewResolver } from '../../../resolvers/dataset/refresh-preview.ts';
import { DatasetFilterFields, SavedFilterResolver } from '../../../resolvers/dataset/saved-filter.ts';
import { DatasetSnapshotFields, SnapshotResolver } from '../../../resolvers/dataset/snapshot.ts';
import { UserSettingResolver } from '../../../resolvers/dataset/user-setting.ts';
import { DatasourceLinkFields, DatasourceLinkResolver } from '../../../resolvers/datasource/datasource-link.ts';
import { DatasourceOwnedFields, DatasourceResolver } from '../../../resolvers/datasource/datasource.ts';
import { SavedQueryOwnedFields, SavedQueryResolver } from '../../../resolvers/datasource/saved-query.ts';
import { SuiteResolver } from '../../../resolvers/datasource/suite.ts';
import { UploadResolver } from '../../../resolvers/datasource/upload.ts';
import { PasswordResetResolver } from '../../../resolvers/identity/password-reset.ts';
import { LoginResolver, SessionResolver } from '../../../resolvers/identity/session.ts';
import { TeamMemberResolver, TeamResolver } from '../../../resolvers/identity/team.ts';
import { TokenResolver } from '../../../resolvers/identity/token.ts';
import { UserPermissionsResolver } from '../../../resolvers/identity/user-permissions.ts';
import { UserPrivateFieldsResolver } from '../../../resolvers/identity/user-private-fields.ts';
import { UserResolver } from '../../../resolvers/identity/user.ts';
import { OperationResolver } from '../../../resolvers/operation/operation.ts';
import { DatasetReferenceResolver, ReportReferenceFields } from '../../../resolvers/report/dataset-reference.ts';
import { ReportDataResolver } from '../../../resolvers/report/report-data.ts';
import { ReportOwnedFields, ReportResolver } from '../../../resolvers/report/report.ts';
import { ActivityResolver } from '../../../resolvers/resource/activity.ts';
import { AuditResolver } from '../../../resolvers/resource/audit.ts';
import { FavoriteResolver } from '../../../resolvers/resource/favorite.ts';
import { FolderResolver } from '../../../resolvers/resource/folder.ts';
import { MailResolver } from '../../../resolvers/resource/mail.ts';
import { NodeResolver } from '../../../resolvers/resource/node.ts';
import { NotificationResolver } from '../../../resolvers/resource/notification.ts';
import { ReferencePageResolver, ReferenceResolver } from '../../../resolvers/resource/reference.ts';
import { SearchResolver } from '../../../resolvers/resource/search.ts';
import { ShareResolver } from '../../../resolvers/resource/share.ts';
import { TagAssignmentResolver, TagResolver } from '../../../resolvers/resource/tag.ts';
import { guard } from '../../../resolvers/support/guard.ts';
import { DatasetVisualResolver, VisualResolver } from '../../../resolvers/visual/visual.ts';
import { DateTime } from '../../core/scalars.ts';
import { directResolvers, plainFields } from './direct-resolvers.ts';
import { withFederation } from './federation.ts';

const RESOLVERS: NonEmptyArray<NewableFunction> = [
  LoginResolver,
  SessionResolver,
  PasswordResetResolver,
  TokenResolver,
  UserResolver,
  UserPermissionsResolver,
  UserPrivateFieldsResolver,
  TeamResolver,
  TeamMemberResolver,
  OperationResolver,
  MailResolver,
  NotificationResolver,
  AuditResolver,
  ActivityResolver,
  NodeResolver,
  ShareResolver,
  TagResolver,
  TagAssignmentResolver,
  FavoriteResolver,
  SearchResolver,
  ReferenceResolver,
  ReferencePageResolver,
  FolderResolver,
  DatasourceResolver,
  DatasourceOwnedFields,
  SavedQueryResolver,
  SavedQueryOwnedFields,
  DatasetResolver,
  DatasetOwnedFields,
  DatasetDataResolver,
  DatasetRowsResolver,
  DatasetRunResolver,
  DatasetBenchmarkResolver,
  RefreshPreviewResolver,
  DatasetAccessFields,
  DatasetAccessResolver,
  DatasetShareResolver,
  DatasetCopyResolver,
  DatasetSnapshotFields,
  SnapshotResolver,
  DatasetFilterFields,
  SavedFilterResolver,
  DatasetVisualResolver,
  VisualResolver,
  DatasetDraftResolver,
  UserSettingResolver,
  ReportResolver,
  ReportOwnedFields,
  ReportReferenceFields,
  ReportDataResolver,
  DatasetReferenceResolver,
  AppResolver,
  AppOwnedFields,
  DatasourceLinkFields,
  DatasourceLinkResolver,
  SuiteResolver,
  UploadResolver,
];

/** TypeGraphQL asks for one; our subscriptions follow Postgres and bring their own iterators. */
const UNUSED = createPubSub();

/** The one schema, guarded: every root field checks its permission before its resolver runs. */
export async function createSchema(): Promise<GraphQLSchema> {
  plainFields();
  return guard(
    withFederation(
      directResolvers(
        await buildSchema({
          resolvers: RESOLVERS as never,
          scalarsMap: [{ type: Date, scalar: DateTime }],
          validate: false,
          skipCheck: false,
          pubSub: UNUSED,
        }),
      ),
    ),
  );
}

import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import type { GraphQLSchema } from 'graphql';
import { buildSchema, type NonEmptyArray } from 'type-graphql';
import { ActivityResolver } from '../../resolvers/activity.ts';
import { AppOwnedFields, AppResolver } from '../../resolvers/app.ts';
import { AuditResolver } from '../../resolvers/audit.ts';
import { DatasetAccessFields, DatasetAccessResolver } from '../../resolvers/dataset-access.ts';
import { DatasetBenchmarkResolver } from '../../resolvers/dataset-benchmark.ts';
import { DatasetCopyResolver } from '../../resolvers/dataset-copy.ts';
import { DatasetDataResolver, DatasetRowsResolver } from '../../resolvers/dataset-data.ts';
import { DatasetReferenceResolver, ReportReferenceFields } from '../../resolvers/dataset-reference.ts';
import { DatasetRunResolver } from '../../resolvers/dataset-run.ts';
import { DatasetShareResolver } from '../../resolvers/dataset-share.ts';
import { DatasetOwnedFields, DatasetResolver } from '../../resolvers/dataset.ts';
import { DatasourceLinkFields, DatasourceLinkResolver } from '../../resolvers/datasource-link.ts';
import { DatasourceOwnedFields, DatasourceResolver } from '../../resolvers/datasource.ts';
import { DatasetDraftResolver } from '../../resolvers/draft.ts';
import { FavoriteResolver } from '../../resolvers/favorite.ts';
import { FolderResolver } from '../../resolvers/folder.ts';
import { guard } from '../../resolvers/guard.ts';
import { MailResolver } from '../../resolvers/mail.ts';
import { NodeResolver } from '../../resolvers/node.ts';
import { NotificationResolver } from '../../resolvers/notification.ts';
import { OperationResolver } from '../../resolvers/operation.ts';
import { PasswordResetResolver } from '../../resolvers/password-reset.ts';
import { ReferencePageResolver, ReferenceResolver } from '../../resolvers/reference.ts';
import { RefreshPreviewResolver } from '../../resolvers/refresh-preview.ts';
import { ReportDataResolver } from '../../resolvers/report-data.ts';
import { ReportOwnedFields, ReportResolver } from '../../resolvers/report.ts';
import { DatasetFilterFields, SavedFilterResolver } from '../../resolvers/saved-filter.ts';
import { SavedQueryOwnedFields, SavedQueryResolver } from '../../resolvers/saved-query.ts';
import { SearchResolver } from '../../resolvers/search.ts';
import { LoginResolver, SessionResolver } from '../../resolvers/session.ts';
import { ShareResolver } from '../../resolvers/share.ts';
import { DatasetSnapshotFields, SnapshotResolver } from '../../resolvers/snapshot.ts';
import { SuiteResolver } from '../../resolvers/suite.ts';
import { TagAssignmentResolver, TagResolver } from '../../resolvers/tag.ts';
import { TeamMemberResolver, TeamResolver } from '../../resolvers/team.ts';
import { TokenResolver } from '../../resolvers/token.ts';
import { UploadResolver } from '../../resolvers/upload.ts';
import { UserSettingResolver } from '../../resolvers/user-setting.ts';
import { UserResolver } from '../../resolvers/user.ts';
import { DatasetVisualResolver, VisualResolver } from '../../resolvers/visual.ts';
import { DateTime } from '../core/scalars.ts';
import { directResolvers, plainFields } from './direct-resolvers.ts';
import { withFederation } from './federation.ts';

const RESOLVERS: NonEmptyArray<NewableFunction> = [
  LoginResolver,
  SessionResolver,
  PasswordResetResolver,
  TokenResolver,
  UserResolver,
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
export async function makeSchema(): Promise<GraphQLSchema> {
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

import type { MetadataStorage } from '@mikro-orm/core';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { agentModel, agentRunModel } from '../agent/agent-model.ts';
import { aiCallModel } from '../ai/ai-call-model.ts';
import { aiProviderModel } from '../ai/ai-provider-model.ts';
import { appGrantModel } from '../app/app-grant-model.ts';
import { appFileModel, appModel, appReleaseModel } from '../app/app-model.ts';
import { appLogModel, webhookCallModel } from '../app/app-record-model.ts';
import { assistantModel } from '../assistant/assistant-model.ts';
import { connectionModel } from '../connection/connection-model.ts';
import { datasetModel } from '../dataset/dataset-model.ts';
import { savedFilterModel } from '../dataset/saved-filter-model.ts';
import { userSettingModel } from '../dataset/user-setting-model.ts';
import { datasourceLinkModel } from '../datasource/datasource-link-model.ts';
import { datasourceModel } from '../datasource/datasource-model.ts';
import { savedQueryModel } from '../datasource/saved-query-model.ts';
import { storedFileModel } from '../datasource/stored-file-model.ts';
import { suiteMemberModel, suiteModel } from '../datasource/suite-model.ts';
import { apiTokenModel } from '../identity/api-token-model.ts';
import { identityProviderModel } from '../identity/identity-provider-model.ts';
import { sessionModel } from '../identity/session-model.ts';
import { teamCommentModel } from '../identity/team-comment-model.ts';
import { feedItemModel } from '../identity/team-feed-model.ts';
import { teamMemberModel, teamModel } from '../identity/team-model.ts';
import { userModel } from '../identity/user-model.ts';
import { imageModel } from '../image/image-model.ts';
import { jobActionConditionModel, jobActionModel, jobDatasetModel, jobModel, jobRunModel } from '../job/job-model.ts';
import { integrationModel, libraryFileModel, libraryModel } from '../library/library-model.ts';
import { operationModel } from '../operation/operation-model.ts';
import { datasetReferenceModel } from '../report/dataset-reference-model.ts';
import { reportModel } from '../report/report-model.ts';
import {
  renditionModel,
  templateFileModel,
  templateInputModel,
  templateModel,
  templateProcessorModel,
} from '../template/template-model.ts';
import { toolkitModel, toolkitToolModel } from '../toolkit/toolkit-model.ts';
import { usageEventModel } from '../usage/usage-event-model.ts';
import { usageProfileModel } from '../usage/usage-profile-model.ts';
import { visualModel } from '../visual/visual-model.ts';
import { activityModel } from './activity-model.ts';
import { auditEventModel } from './audit-event-model.ts';
import { buildModels, type ModelDefinition } from './define-model.ts';
import { favoriteModel, favoriteResourceModel } from './favorite-model.ts';
import { folderModel } from './folder-model.ts';
import { mailModel } from './mail-model.ts';
import { notificationModel } from './notification-model.ts';
import { defineOwnedModel } from './owned-model.ts';
import { resourceModel } from './resource-model.ts';
import { shareModel } from './share-model.ts';
import { tagAssignmentModel, tagModel } from './tag-model.ts';

/** The read models of all entities that the API reads. */
export const MODELS: readonly ModelDefinition[] = [
  activityModel,
  agentModel,
  agentRunModel,
  aiCallModel,
  aiProviderModel,
  apiTokenModel,
  appFileModel,
  appGrantModel,
  appLogModel,
  appModel,
  appReleaseModel,
  assistantModel,
  auditEventModel,
  connectionModel,
  datasetModel,
  datasetReferenceModel,
  datasourceModel,
  datasourceLinkModel,
  favoriteModel,
  favoriteResourceModel,
  feedItemModel,
  folderModel,
  identityProviderModel,
  imageModel,
  integrationModel,
  jobModel,
  jobActionModel,
  jobActionConditionModel,
  jobDatasetModel,
  jobRunModel,
  libraryModel,
  libraryFileModel,
  mailModel,
  notificationModel,
  operationModel,
  renditionModel,
  reportModel,
  resourceModel,
  savedFilterModel,
  savedQueryModel,
  sessionModel,
  shareModel,
  storedFileModel,
  suiteModel,
  suiteMemberModel,
  tagModel,
  tagAssignmentModel,
  teamModel,
  teamCommentModel,
  teamMemberModel,
  templateModel,
  templateFileModel,
  templateInputModel,
  templateProcessorModel,
  toolkitModel,
  toolkitToolModel,
  usageEventModel,
  usageProfileModel,
  userModel,
  userSettingModel,
  visualModel,
  webhookCallModel,
];

/**
 * Builds all read models from the entities that MikroORM has discovered. A kind with owners has one without declaring
 * it.
 */
export function registerModels(metadata: MetadataStorage): void {
  const defaults = OWNED_KINDS.map(({ entity }) => defineOwnedModel(entity as EntityType<OwnedRow>));
  const declared = new Set(MODELS.map(({ entity }) => entity));
  buildModels(metadata, [...defaults.filter(({ entity }) => !declared.has(entity)), ...MODELS]);
}

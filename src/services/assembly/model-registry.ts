import type { MetadataStorage } from '@mikro-orm/core';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { agentModel, agentRunModel } from '../agent/agent-model.ts';
import { aiCallModel, aiProviderModel } from '../ai/ai-models.ts';
import {
  appGrantModel,
  appFileModel,
  appModel,
  appReleaseModel,
  appLogModel,
  webhookCallModel,
} from '../app/app-models.ts';
import { assistantModel } from '../assistant/assistant-model.ts';
import { apiClientModel, clientDocumentModel } from '../client/client-models.ts';
import { connectionModel } from '../connection/connection-model.ts';
import { datasetModel, savedFilterModel, userSettingModel } from '../dataset/dataset-models.ts';
import {
  datasourceLinkModel,
  datasourceModel,
  savedQueryModel,
  storedFileModel,
  suiteMemberModel,
  suiteModel,
} from '../datasource/datasource-models.ts';
import {
  apiTokenModel,
  identityProviderModel,
  sessionModel,
  teamCommentModel,
  teamMemberModel,
  teamModel,
  userModel,
} from '../identity/identity-models.ts';
import { feedItemModel } from '../identity/team-feed-model.ts';
import { imageModel } from '../image/image-model.ts';
import { jobActionConditionModel, jobActionModel, jobDatasetModel, jobModel, jobRunModel } from '../job/job-model.ts';
import { integrationModel, libraryFileModel, libraryModel } from '../library/library-model.ts';
import { operationModel } from '../operation/operation-model.ts';
import { datasetReferenceModel, reportModel } from '../report/report-models.ts';
import { buildModels, type ModelDefinition } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';
import {
  activityModel,
  auditEventModel,
  favoriteModel,
  favoriteResourceModel,
  folderModel,
  mailModel,
  notificationModel,
  resourceModel,
  shareModel,
  tagAssignmentModel,
  tagModel,
} from '../resource/resource-models.ts';
import {
  renditionModel,
  templateFileModel,
  templateInputModel,
  templateModel,
  templateProcessorModel,
} from '../template/template-model.ts';
import { toolkitModel, toolkitToolModel } from '../toolkit/toolkit-model.ts';
import { usageEventModel, usageProfileModel } from '../usage/usage-models.ts';
import { visualModel } from '../visual/visual-model.ts';

/** The read models of all entities that the API reads. */
export const MODELS: readonly ModelDefinition[] = [
  activityModel,
  agentModel,
  agentRunModel,
  aiCallModel,
  aiProviderModel,
  apiClientModel,
  apiTokenModel,
  appFileModel,
  appGrantModel,
  appLogModel,
  appModel,
  appReleaseModel,
  assistantModel,
  auditEventModel,
  clientDocumentModel,
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
 * Builds all read models from the entities that MikroORM has discovered. A kind with owners has a model without
 * declaring it.
 */
export function registerModels(metadata: MetadataStorage): void {
  const defaults = OWNED_KINDS.map(({ entity }) => defineOwnedModel(entity as EntityType<OwnedRow>));
  const declared = new Set(MODELS.map(({ entity }) => entity));
  buildModels(metadata, [...defaults.filter(({ entity }) => !declared.has(entity)), ...MODELS]);
}

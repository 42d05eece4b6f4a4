import type { GraphQLFieldResolver } from 'graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { checkStorage } from '../../src/services/resource/storage-limit.ts';

type Resolve = GraphQLFieldResolver<unknown, PublicContext>;

/**
 * Mutations that store more. All others work on a full quota and with little free disk: logins, tokens, deletions, changes,
 * and migrations of apps, which may delete.
 */
const ADDS_CONTENT: ReadonlySet<string> = new Set([
  'benchmarkDataset',
  'benchmarkDatasetInternal',
  'copyDataset',
  'createAgent',
  'createAiProvider',
  'createApp',
  'createAssistant',
  'createAssistantImage',
  'createDataset',
  'createDatasetReference',
  'createDatasource',
  'createDatasourceLink',
  'createFolder',
  'createIdentityProvider',
  'createImage',
  'createIntegration',
  'createJob',
  'createJobAction',
  'createJobActionCondition',
  'createJobDataset',
  'createLibrary',
  'createReport',
  'createSavedFilter',
  'createSavedQuery',
  'createSnapshot',
  'createSuite',
  'createTag',
  'createTeam',
  'createTeamComment',
  'createTemplate',
  'createTemplateFile',
  'createToolkit',
  'createUsageProfile',
  'createUser',
  'createVisual',
  'deployApp',
  'discoverToolkit',
  'editDataset',
  'editJob',
  'editTemplate',
  'previewRefresh',
  'previewUpload',
  'promoteRefresh',
  'promoteSnapshot',
  'refreshDataset',
  'refreshDatasetInternal',
  'renderTemplate',
  'replaceDatasourceFile',
  'replayWebhookCall',
  'retryJobRun',
  'runAgent',
  'runDataset',
  'runJob',
  'runSavedQuery',
  'setAppFile',
  'setAssistantIcon',
  'setAvatar',
  'setTemplateFileContents',
  'syncLibrary',
  'uploadAvatarPart',
  'uploadClientDocuments',
  'uploadDataset',
  'uploadDatasource',
  'uploadTemplateFile',
]);

/** Returns whether a mutation stores more, so that it is refused when the storage of its tenant is used up. */
export const addsContent = (mutation: string): boolean => ADDS_CONTENT.has(mutation);

/** Wraps a mutation that stores more: it throws 413 on a full quota of the caller's tenant, and 503 with little free disk. */
export const withStorage = (mutation: string, resolve: Resolve): Resolve =>
  addsContent(mutation)
    ? async (source, args, context, info) => {
        if (context.viewer) await checkStorage(context.platform, context.viewer.tenantId);
        return resolve(source, args, context, info) as unknown;
      }
    : resolve;

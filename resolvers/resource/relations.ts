import { Activity } from '../../entities/activity.ts';
import { AgentRun } from '../../entities/agent-run.ts';
import { Agent } from '../../entities/agent.ts';
import { AiCall } from '../../entities/ai-call.ts';
import { AiProvider } from '../../entities/ai-provider.ts';
import { ApiToken } from '../../entities/api-token.ts';
import { AppFile } from '../../entities/app-file.ts';
import { AppGrant } from '../../entities/app-grant.ts';
import { AppLog } from '../../entities/app-log.ts';
import { AppRelease } from '../../entities/app-release.ts';
import { App } from '../../entities/app.ts';
import { Assistant } from '../../entities/assistant.ts';
import { AuditEvent } from '../../entities/audit-event.ts';
import { Connection } from '../../entities/connection.ts';
import { DatasetReference } from '../../entities/dataset-reference.ts';
import { DatasetRefresh } from '../../entities/dataset-refresh.ts';
import { Dataset } from '../../entities/dataset.ts';
import { DatasourceLink } from '../../entities/datasource-link.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Favorite, FavoriteResource } from '../../entities/favorite.ts';
import { FeedItem } from '../../entities/feed-item.ts';
import { Folder } from '../../entities/folder.ts';
import { Image } from '../../entities/image.ts';
import { Integration } from '../../entities/integration.ts';
import { JobActionCondition } from '../../entities/job-action-condition.ts';
import { JobAction } from '../../entities/job-action.ts';
import { JobDataset } from '../../entities/job-dataset.ts';
import { JobRun, JobRunResult } from '../../entities/job-run.ts';
import { Job } from '../../entities/job.ts';
import { LibraryFile } from '../../entities/library-file.ts';
import { Library } from '../../entities/library.ts';
import { Mail } from '../../entities/mail.ts';
import { RefreshBreak } from '../../entities/refresh-preview.ts';
import { Rendition } from '../../entities/rendition.ts';
import { Report } from '../../entities/report.ts';
import { Resource } from '../../entities/resource.ts';
import { SavedFilter } from '../../entities/saved-filter.ts';
import { SavedQuery } from '../../entities/saved-query.ts';
import { SearchHit } from '../../entities/search-hit.ts';
import { Session } from '../../entities/session.ts';
import { Share } from '../../entities/share.ts';
import { TagAssignment } from '../../entities/tag-assignment.ts';
import { Tag } from '../../entities/tag.ts';
import { TeamComment } from '../../entities/team-comment.ts';
import { Team } from '../../entities/team.ts';
import { TemplateFile } from '../../entities/template-file.ts';
import { TemplateInput } from '../../entities/template-input.ts';
import { TemplateProcessor } from '../../entities/template-processor.ts';
import { Template } from '../../entities/template.ts';
import { ToolkitTool } from '../../entities/toolkit-tool.ts';
import { Toolkit } from '../../entities/toolkit.ts';
import { UsageEvent } from '../../entities/usage-event.ts';
import { UserContent } from '../../entities/user-content.ts';
import { User } from '../../entities/user.ts';
import { Visual } from '../../entities/visual.ts';
import { WebhookCall } from '../../entities/webhook-call.ts';
import { ImagePage } from '../ai/image-types.ts';
import { AccessReason } from '../dataset/dataset-access.ts';
import { DatasetPage } from '../dataset/dataset.ts';
import { SavedQueryPage } from '../datasource/saved-query.ts';
import { LibraryPage } from '../library/library.ts';
import { OperationResource } from '../operation/operation.ts';
import { ReferenceSnapshot } from '../report/dataset-reference-types.ts';
import { pageOf } from '../support/page.ts';
import { nodeField, recordField, relationField, relationPage } from '../support/relation-fields.ts';
import { UsageBudget } from '../usage/usage-budget.ts';
import { TopApp, TopUser, UsageSummary } from '../usage/usage-total-types.ts';
import { NotificationResource } from './notification.ts';
import { Reference } from './reference.ts';

/*
 * The relations of the graph that need only a declaration: the record for each id, and the opposite direction where
 * clients need it (docs/contract/apis.md#relations).
 */

relationField(Dataset, 'datasource', Datasource, 'Datasource of its own query. Null if the caller cannot read it.');
relationField(Dataset, 'savedQuery', SavedQuery, 'Saved query that it follows. Null if the caller cannot read it.');
relationField(SavedQuery, 'datasource', Datasource, 'Datasource of the query. Null if the caller cannot read it.');
relationField(Visual, 'dataset', Dataset, 'Dataset that it shows.');
relationField(Visual, 'owner', User, 'User who created it. Null when that user has been deleted.');
relationField(DatasetReference, 'report', Report, 'Report that shows the dataset.');
relationField(Connection, 'owner', User, 'User who authorized it.');
relationField(Connection, 'integration', Integration, 'Integration with which it was authorized; null for a toolkit.');
relationField(Connection, 'library', Library, 'Library that it connects; null for the connection of a toolkit.');
relationField(Connection, 'toolkit', Toolkit, 'Toolkit that it connects; null for the connection of a library.');
relationField(JobDataset, 'job', Job, 'Job that works on the dataset.');
relationField(JobDataset, 'dataset', Dataset, 'The dataset. Null if the caller cannot read it.');
relationField(JobAction, 'job', Job, 'Job of the action.');
relationField(JobActionCondition, 'jobAction', JobAction, 'Action of the condition.');
relationField(JobRun, 'job', Job, 'Job that runs.');
relationField(JobRun, 'user', User, 'User who started it. Null for a run of the schedule and for a deleted user.');
relationField(JobRun, 'retryOf', JobRun, 'The failed or cancelled run that this one continues.');
relationField(Template, 'templateFile', TemplateFile, 'File that is rendered by default; null without one.');
relationField(Template, 'letterhead', TemplateFile, 'File that is laid under each page of a PDF; null without one.');
relationField(AppFile, 'app', App, 'App of the file.');
relationField(AppGrant, 'app', App, 'The app. Null if the caller cannot read it.');
relationField(AppRelease, 'app', App, 'App of the release.');
relationField(AppRelease, 'user', User, 'User who deployed it. Null for a deleted user.');
relationField(AppLog, 'app', App, 'App that logged it.');
relationField(WebhookCall, 'app', App, 'App of the webhook.');
relationField(
  WebhookCall,
  'replayOf',
  WebhookCall,
  'The call that was replayed. Null if it was deleted, or if this call is not a replay.',
);
relationField(Library, 'integration', Integration, 'Integration with which it connects; null if it has none.');
relationField(LibraryFile, 'library', Library, 'Library of the file.');
relationField(Integration, 'library', Library, 'Its library; null unless it is embedded.');
relationField(Integration, 'creator', User, 'User who created it; null if the user is deleted.');
relationField(TemplateFile, 'template', Template, 'Template of the file.');
relationField(Rendition, 'template', Template, 'Template of the document. Null if the caller can no longer read it.');
relationField(TemplateInput, 'template', Template, 'Template of the input.');
relationField(TemplateProcessor, 'template', Template, 'Template of the processor.');
relationField(ToolkitTool, 'toolkit', Toolkit, 'Toolkit of the tool.');
relationField(
  ToolkitTool,
  'savedQuery',
  SavedQuery,
  'Saved query that it runs. Null if it runs none, if the query was deleted, or if the caller cannot read it.',
);
relationField(DatasourceLink, 'source', Datasource, 'Datasource the link starts from.');
relationField(
  Share,
  'datasetFilter',
  SavedFilter,
  'Saved filter whose rows it shows. Null if the caller cannot read it.',
);
relationField(Tag, 'creator', User, 'User who created it; null if the user is deleted.');
relationField(FeedItem, 'user', User, 'User who caused it; null if the user is deleted.');
relationField(TeamComment, 'user', User, 'User who wrote it; null if the user is deleted.');
relationField(TeamComment, 'team', Team, 'Team of the comment.');
relationField(Favorite, 'user', User, 'User whose favourite it is.');
relationField(Mail, 'user', User, 'Recipient. Null if the recipient is not a user of the tenant or was deleted.');
relationField(AuditEvent, 'user', User, 'Caller. Null for operators, failed logins and deleted users.');
relationField(AiProvider, 'owner', User, 'Its user; null for one of the tenant.');
relationField(AiCall, 'provider', AiProvider, 'The AI provider; null if it was deleted or belongs to another user.');
relationField(AiCall, 'user', User, 'User who called, or who owns the agent; null if the user is deleted.');
relationField(Image, 'user', User, 'User who requested it; null if the user is deleted.');
relationField(
  Image,
  'assistant',
  Assistant,
  'Assistant that it belongs to. Null if it has none, or if the caller cannot read it.',
);
relationField(AgentRun, 'agent', Agent, 'The agent.');
relationField(AgentRun, 'user', User, 'User who started it. Null for a run on an event, and if the user is deleted.');
relationField(
  AgentRun,
  'eventApp',
  App,
  'App that raised the event. Null for a run by a user, and if the app is deleted.',
);
relationField(UsageEvent, 'user', User, 'User who caused the usage. Null for agents and deleted users.');

recordField(AuditEvent, 'token', 'tokenId', ApiToken, 'API token that was used, if it is one of the caller.', [
  'tokenId',
]);
recordField(AuditEvent, 'session', 'sessionId', Session, 'Session, if it is an open one of the caller.', ['sessionId']);
recordField(AccessReason, 'datasetFilter', 'datasetFilterId', SavedFilter, 'Saved filter, if the caller can read it.');
recordField(DatasetRefresh, 'dataset', 'id', Dataset, 'Dataset with its new rows.');
recordField(ReferenceSnapshot, 'dataset', 'datasetId', Dataset, 'Snapshot. Null if the caller cannot read it.');
recordField(JobRunResult, 'run', 'runId', JobRun, 'The run.');
recordField(UserContent, 'user', 'userId', User, 'The user.');
recordField(TopUser, 'user', 'userId', User, 'The user. Null for agents and deleted users.');
recordField(SearchHit, 'library', 'libraryId', Library, 'Library of a file; null for the other kinds.');
recordField(RefreshBreak, 'report', 'reportId', Report, 'Report of a reference. Null for the other kinds.');

nodeField(Activity, 'resource', 'kind', 'resourceId');
nodeField(AiCall, 'entity', 'entityType', 'entityId');
nodeField(AuditEvent, 'resource', 'kind', 'resourceId');
nodeField(FeedItem, 'entity', 'entityType', 'entityId');
nodeField(UsageEvent, 'entity', 'entityType', 'entityId');
nodeField(UsageSummary, 'entity', 'entityType', 'entityId', []);
nodeField(TopApp, 'entity', 'entityType', 'entityId', []);
nodeField(UsageBudget, 'node', 'entityType', 'entityId', []);
nodeField(Favorite, 'resource', 'kind', 'resourceId');
nodeField(Share, 'resource', 'kind', 'resourceId');
nodeField(TagAssignment, 'resource', 'kind', 'resourceId');
nodeField(FavoriteResource, 'node', 'kind', 'id');
nodeField(Reference, 'node', 'kind', 'id');
nodeField(Resource, 'node', 'kind', 'id');
nodeField(SearchHit, 'node', 'kind', 'id', []);
nodeField(NotificationResource, 'node', 'kind', 'id', []);
nodeField(OperationResource, 'node', 'kind', 'id', []);

const ResourcePage = pageOf(Resource, 'Resource');

relationPage(
  Datasource,
  'datasets',
  DatasetPage,
  'Datasets with a query of their own on it that the caller can read, by name.',
);
relationPage(Datasource, 'savedQueries', SavedQueryPage, 'Saved queries on it that the caller can read, by name.');
relationPage(SavedQuery, 'datasets', DatasetPage, 'Datasets that follow it and that the caller can read, by name.');
relationPage(Assistant, 'images', ImagePage, 'Its images, latest first.');
relationPage(Integration, 'libraries', LibraryPage, 'Libraries with it that the caller can read, by name.');
relationPage(Folder, 'resources', ResourcePage, 'Resources in it that the caller can read, by name.');
relationPage(Tag, 'resources', ResourcePage, 'Resources with the tag that the caller can read, by name.');
relationPage(Team, 'resources', ResourcePage, 'Resources that the team owns and that the caller can read, by name.');

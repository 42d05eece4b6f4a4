import { Activity } from '../../../entities/activity.ts';
import { AgentRun } from '../../../entities/agent-run.ts';
import { Agent } from '../../../entities/agent.ts';
import { AiCall } from '../../../entities/ai-call.ts';
import { AiProvider } from '../../../entities/ai-provider.ts';
import { ApiClient } from '../../../entities/api-client.ts';
import { ApiToken } from '../../../entities/api-token.ts';
import { AppFile } from '../../../entities/app-file.ts';
import { AppGrant } from '../../../entities/app-grant.ts';
import { AppLog } from '../../../entities/app-log.ts';
import { AppRelease } from '../../../entities/app-release.ts';
import { AuditEvent } from '../../../entities/audit-event.ts';
import { ClientDocument } from '../../../entities/client-document.ts';
import { Connection } from '../../../entities/connection.ts';
import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Favorite } from '../../../entities/favorite.ts';
import { Folder } from '../../../entities/folder.ts';
import { Generation } from '../../../entities/generation.ts';
import { IdentityProvider } from '../../../entities/identity-provider.ts';
import { Image } from '../../../entities/image.ts';
import { Integration } from '../../../entities/integration.ts';
import { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { JobRun } from '../../../entities/job-run.ts';
import { LibraryFile } from '../../../entities/library-file.ts';
import { Mail } from '../../../entities/mail.ts';
import { Notification } from '../../../entities/notification.ts';
import { Operation } from '../../../entities/operation.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { PasswordReset } from '../../../entities/password-reset.ts';
import { Rendition } from '../../../entities/rendition.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { Session } from '../../../entities/session.ts';
import { Share } from '../../../entities/share.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import { TagAssignment } from '../../../entities/tag-assignment.ts';
import { Tag } from '../../../entities/tag.ts';
import { TeamComment } from '../../../entities/team-comment.ts';
import { TeamMember } from '../../../entities/team-member.ts';
import { Team } from '../../../entities/team.ts';
import { TemplateFile } from '../../../entities/template-file.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import { TemplateProcessor } from '../../../entities/template-processor.ts';
import { Tenant } from '../../../entities/tenant.ts';
import { ToolkitTool } from '../../../entities/toolkit-tool.ts';
import { UsageEvent } from '../../../entities/usage-event.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { User } from '../../../entities/user.ts';
import { Visual } from '../../../entities/visual.ts';
import { WebhookCall } from '../../../entities/webhook-call.ts';

/** Every stored type. A type comes after those that its foreign keys refer to. */
export const ENTITIES = [
  Tenant,
  User,
  UserSetting,
  Session,
  ApiToken,
  ApiClient,
  ClientDocument,
  IdentityProvider,
  Team,
  TeamMember,
  TeamComment,
  ...OWNED_KINDS.map(({ entity }) => entity),
  Generation,
  Operation,
  Mail,
  Notification,
  PasswordReset,
  StoredFile,
  Integration,
  AiProvider,
  AiCall,
  Image,
  LibraryFile,
  ToolkitTool,
  Agent,
  AgentRun,
  Connection,
  AppFile,
  AppGrant,
  AppRelease,
  AppLog,
  WebhookCall,
  Share,
  SavedFilter,
  Visual,
  Folder,
  DatasetReference,
  JobDataset,
  JobAction,
  JobActionCondition,
  JobRun,
  TemplateFile,
  TemplateInput,
  TemplateProcessor,
  Rendition,
  DatasourceLink,
  Suite,
  SuiteMember,
  Tag,
  TagAssignment,
  Favorite,
  Activity,
  AuditEvent,
  UsageEvent,
  UsageProfile,
];

import type { Row } from '../../rest-bridge/route.ts';
import agent from '../../rest-bridge/routes/agent.ts';
import aiProvider from '../../rest-bridge/routes/ai-provider.ts';
import ai from '../../rest-bridge/routes/ai.ts';
import appGrant from '../../rest-bridge/routes/app-grant.ts';
import app from '../../rest-bridge/routes/app.ts';
import assistant from '../../rest-bridge/routes/assistant.ts';
import audit from '../../rest-bridge/routes/audit.ts';
import avatar from '../../rest-bridge/routes/avatar.ts';
import client from '../../rest-bridge/routes/client.ts';
import connection from '../../rest-bridge/routes/connection.ts';
import datasetReference from '../../rest-bridge/routes/dataset-reference.ts';
import dataset from '../../rest-bridge/routes/dataset.ts';
import datasourceLink from '../../rest-bridge/routes/datasource-link.ts';
import datasource from '../../rest-bridge/routes/datasource.ts';
import draft from '../../rest-bridge/routes/draft.ts';
import favorite from '../../rest-bridge/routes/favorite.ts';
import folder from '../../rest-bridge/routes/folder.ts';
import identityProvider from '../../rest-bridge/routes/identity-provider.ts';
import image from '../../rest-bridge/routes/image.ts';
import integration from '../../rest-bridge/routes/integration.ts';
import jobAction from '../../rest-bridge/routes/job-action.ts';
import job from '../../rest-bridge/routes/job.ts';
import librarySync from '../../rest-bridge/routes/library-sync.ts';
import library from '../../rest-bridge/routes/library.ts';
import mail from '../../rest-bridge/routes/mail.ts';
import notification from '../../rest-bridge/routes/notification.ts';
import operation from '../../rest-bridge/routes/operation.ts';
import passwordReset from '../../rest-bridge/routes/password-reset.ts';
import rendition from '../../rest-bridge/routes/rendition.ts';
import report from '../../rest-bridge/routes/report.ts';
import root from '../../rest-bridge/routes/root.ts';
import savedFilter from '../../rest-bridge/routes/saved-filter.ts';
import savedQuery from '../../rest-bridge/routes/saved-query.ts';
import search from '../../rest-bridge/routes/search.ts';
import session from '../../rest-bridge/routes/session.ts';
import snapshot from '../../rest-bridge/routes/snapshot.ts';
import suite from '../../rest-bridge/routes/suite.ts';
import tag from '../../rest-bridge/routes/tag.ts';
import team from '../../rest-bridge/routes/team.ts';
import templateFile from '../../rest-bridge/routes/template-file.ts';
import template from '../../rest-bridge/routes/template.ts';
import toolkitDiscovery from '../../rest-bridge/routes/toolkit-discovery.ts';
import toolkit from '../../rest-bridge/routes/toolkit.ts';
import usageProfile from '../../rest-bridge/routes/usage-profile.ts';
import usage from '../../rest-bridge/routes/usage.ts';
import userSetting from '../../rest-bridge/routes/user-setting.ts';
import user from '../../rest-bridge/routes/user.ts';
import visual from '../../rest-bridge/routes/visual.ts';

/** Every route below `/api`. */
export const ROWS: Row[] = [
  ...root,
  ...session,
  ...passwordReset,
  ...user,
  ...avatar,
  ...team,
  ...identityProvider,
  ...client,
  ...operation,
  ...mail,
  ...notification,
  ...audit,
  ...usage,
  ...usageProfile,
  ...tag,
  ...favorite,
  ...search,
  ...folder,
  ...datasource,
  ...datasourceLink,
  ...suite,
  ...savedQuery,
  ...dataset,
  ...snapshot,
  ...draft,
  ...userSetting,
  ...visual,
  ...savedFilter,
  ...report,
  ...datasetReference,
  ...app,
  ...appGrant,
  ...library,
  ...librarySync,
  ...integration,
  ...connection,
  ...job,
  ...jobAction,
  ...template,
  ...templateFile,
  ...rendition,
  ...toolkit,
  ...toolkitDiscovery,
  ...assistant,
  ...agent,
  ...aiProvider,
  ...ai,
  ...image,
];

import type { Endpoint } from './bridge.ts';

/* The themes by which the OpenAPI document groups its operations. */

interface Theme {
  name: string;
  description: string;
  paths: RegExp;
}

/** The themes in the order of the reference. An operation belongs to the one whose pattern matches most of its path. */
const THEMES: readonly Theme[] = [
  { name: 'Entry point', description: 'The resource from which links lead to all others.', paths: /^$/ },
  {
    name: 'Sessions',
    description: 'Log in and out, the sessions and API tokens of the caller, and forgotten passwords.',
    paths: /^\/(login|logout|session|sessions|tokens|password-reset)\b/,
  },
  {
    name: 'People',
    description: 'Users, teams, their members and permissions, and the profile of the caller.',
    paths: /^\/(users|users-list|users-content|top-menu-templates|me|teams)\b/,
  },
  {
    name: 'Datasets',
    description: 'Datasets with the query that fills them: create, upload, refresh, share and tag them.',
    paths: /^\/dataset/,
  },
  {
    name: 'Rows',
    description: 'Read, search, filter, group and export the rows of datasets, and the filters saved for them.',
    paths: /^\/(datasets\/:\w+\/(data|_search|_aggregate|discover|export|filters)|dataset-filters)\b/,
  },
  {
    name: 'Snapshots and drafts',
    description: 'Copies, snapshots and drafts of datasets, and the settings that each user has for them.',
    paths: /^\/datasets\/:\w+\/(copy|snapshots|snapshot-list|_edit|draft|user-settings)\b/,
  },
  {
    name: 'Visuals',
    description: 'Charts and tables of datasets, their data and pictures.',
    paths: /^\/(datasets\/:\w+\/visual|visual-components)/,
  },
  {
    name: 'Reports',
    description: 'Reports, the datasets that they show, and the data of their blocks.',
    paths: /^\/reports\b/,
  },
  {
    name: 'Jobs',
    description: 'Jobs with their schedules, datasets, actions, run conditions and drafts.',
    paths: /^\/(jobs|jobs-list|job-drivers|job-action-drivers)\b/,
  },
  {
    name: 'Templates',
    description: 'Templates of documents with their files and drafts, and the documents rendered from them.',
    paths: /^\/(templates|template-drivers)\b/,
  },
  {
    name: 'Libraries',
    description: 'Libraries with the files of cloud drives, and the integrations with which they connect.',
    paths: /^\/(libraries|integrations|oauth)\b/,
  },
  {
    name: 'Toolkits',
    description: 'Tools for agents: tools of MCP servers and tools that users define.',
    paths: /^\/(toolkits|toolkit-drivers|toolkit-templates|toolkit-parse-config)\b/,
  },
  {
    name: 'AI',
    description: 'AI providers, the audit of their calls, and the images that models create.',
    paths: /^\/(ai-providers|ai|images|_create-image)\b/,
  },
  {
    name: 'Assistants',
    description: 'Assistants with their instructions, data, tools and icons, and their agents.',
    paths: /^\/(assistants|agents)\b/,
  },
  { name: 'Apps', description: 'Apps, their shares, tags and owners.', paths: /^\/(apps|hooks)\b/ },
  {
    name: 'Data sources',
    description: 'Databases and files from which datasets are filled, their links and suites, and saved queries.',
    paths: /^\/(datasources|datasource-drivers|link-types|suites|queries)\b/,
  },
  {
    name: 'Folders and tags',
    description: 'Folders, tags, favourites and the search, for resources of every kind.',
    paths: /^\/(folders|tags|me\/favorites|search)\b/,
  },
  {
    name: 'Operations',
    description: 'Progress and results of long operations, and the notifications of the caller.',
    paths: /^\/(progress|notifications)\b/,
  },
  {
    name: 'Administration',
    description:
      'The audit log, the outgoing mail and the identity providers of the tenant, and the clients of GraphQL.',
    paths: /^\/(audit|outbox|identity-providers|clients|field-usage|schema)\b/,
  },
  {
    name: 'Usage',
    description: 'The usage ledger, and usage profiles with the credits and models that they allow.',
    paths: /^\/(usage|me\/usage|(teams|users)\/:\w+\/ai)\b/,
  },
];
const OTHER: Theme = { name: 'Other', description: 'Operations of no theme.', paths: /(?:)/ };

/** Returns the theme of an operation, by which the reference groups it. */
export function themeOf({ row }: Endpoint): string {
  const lengthOf = ({ paths }: Theme) => paths.exec(row.path)?.[0].length ?? -1;
  return [...THEMES, OTHER].reduce((best, theme) => (lengthOf(theme) > lengthOf(best) ? theme : best)).name;
}

/** Returns the themes of these operations as tags of the document, in the order of the reference. */
export function tagsOf(endpoints: readonly Endpoint[]): { name: string; description: string }[] {
  const used = new Set(endpoints.map(themeOf));
  return [...THEMES, OTHER]
    .filter(({ name }) => used.has(name))
    .map(({ name, description }) => ({ name, description }));
}

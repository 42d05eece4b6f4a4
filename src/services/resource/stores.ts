/** Where content of tenants is stored, and how its bytes are measured. */
interface Store {
  /** A table of the schema `dws` with a column `tenant_id`, `workspace`, or a folder of `DATA_DIR` with a slash. */
  name: string;
  /**
   * The measurement of a worker (`store-sizes.ts`): `rows` of a table, or the tables of a `workspace`. `exact` is the
   * sum of a column that is read for each check (`quota.ts`).
   */
  measure: 'rows' | 'workspace' | 'exact';
  /** The owner of the bytes: a tenant alone, or a tenant and the app in `app_id`. */
  owner: 'tenant' | 'app';
}

const rowsOf = (owner: Store['owner'], ...names: string[]): Store[] =>
  names.map((name) => ({ name, measure: 'rows', owner }));

/**
 * All stores of users' content. Each counts toward `TENANT_QUOTA_BYTES`, stores of apps also toward `APP_QUOTA_BYTES`. A test finds
 * the tables and folders that are missing here.
 */
export const STORES: readonly Store[] = [
  // Sizes of generations in `datasets/` (without a quota of disk: `staging/`) and of files in `files/`.
  { name: 'datasets/', measure: 'exact', owner: 'tenant' },
  { name: 'staging/', measure: 'exact', owner: 'tenant' },
  { name: 'files/', measure: 'exact', owner: 'tenant' },
  { name: 'workspace', measure: 'workspace', owner: 'app' },
  ...rowsOf('app', 'app_event', 'app_log'),
  ...rowsOf('app', 'webhook_call', 'webhook_day', 'webhook_refusal_day', 'webhook_reply'),
  ...rowsOf('tenant', 'api_client', 'client_document'),
  ...rowsOf('tenant', 'app', 'app_file', 'app_grant', 'app_release', 'app_release_file'),
  ...rowsOf('tenant', 'activity', 'audit_event', 'notification', 'team_comment', 'feed_view'),
  ...rowsOf('tenant', 'agent', 'agent_run', 'ai_call', 'ai_provider', 'assistant', 'image'),
  ...rowsOf('tenant', 'app_user', 'team', 'team_member', 'identity_provider', 'user_setting', 'usage_profile'),
  ...rowsOf('tenant', 'avatar_upload_part', 'stored_file', 'rendition', 'mail', 'mail_attachment'),
  ...rowsOf('tenant', 'connection', 'integration', 'library', 'library_file', 'toolkit', 'toolkit_tool'),
  ...rowsOf('tenant', 'library_sync', 'library_sync_change', 'library_sync_folder'),
  ...rowsOf('tenant', 'dataset', 'dataset_reference', 'dataset_reference_snapshot', 'generation', 'refresh_preview'),
  ...rowsOf('tenant', 'datasource', 'datasource_link', 'saved_query', 'saved_filter', 'visual', 'report'),
  ...rowsOf('tenant', 'job', 'job_action', 'job_action_condition', 'job_dataset', 'job_dataset_snapshot', 'job_run'),
  ...rowsOf('tenant', 'template', 'template_file', 'template_input', 'template_processor', 'operation'),
  ...rowsOf(
    'tenant',
    'favorite',
    'folder',
    'idempotency_key',
    'share',
    'suite',
    'suite_member',
    'tag',
    'tag_assignment',
    'search_entry',
  ),
];

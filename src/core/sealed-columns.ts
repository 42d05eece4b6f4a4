/**
 * Every place of the database with sealed values, as `<table>.<column>`, or `<table>.<column>.<key>` for a key of a
 * JSON object, which may be nested (`<key>.<key>`). A column is a text (`SecretBox.seal`) or bytes
 * (`SecretBox.sealBytes`). The values of a place that is not listed here are lost when their key is removed from
 * `APP_SECRET`: a test finds such places. Sealed values outside of the database must expire by themselves. See
 * docs/contract/running.md#keys.
 */
export const SEALED_COLUMNS = [
  'ai_call.sealed_prompt',
  'ai_provider.sealed_api_key',
  'app.env',
  'app_hook_token.sealed',
  'connection.sealed_client',
  'connection.sealed_tokens',
  'credit_reservation.call.record.sealedPrompt',
  'datasource.secrets',
  'idempotency_key.sealed',
  'identity_provider.sealed_client_secret',
  'image.sealed_prompt',
  'integration.sealed_client_secret',
  'job_action.secrets',
  'mail.sealed_html',
  'mail.sealed_text',
  'oauth_registration.sealed',
  'oauth_state.sealed',
  'operation.input.sealedPrompt',
  'setting.value',
  'toolkit.sealed_secrets',
  'webhook_call.request',
  'webhook_reply.response',
] as const;

import { newId } from '../../src/core/id.ts';
import type { Client } from './client.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** Stores a run of an agent that has not begun. */
export const addAgentRun = (service: Service, agentId: string) =>
  systemQuery(
    service,
    `insert into dws.agent_run (id, tenant_id, agent_id, trigger, depth)
    select $1::uuid, tenant_id, id, 'manual', 1 from dws.agent where id = $2::uuid`,
    newId(),
    agentId,
  );

/** Stores an image of a user as an operation does, without its bytes, and the call that created it. Returns their ids. */
export async function addImage(service: Service, user: Client): Promise<{ imageId: string; callId: string }> {
  const [imageId, callId] = [newId(), newId()];
  await systemQuery(
    service,
    `with owner as (select id, tenant_id from dws.app_user where id = $1::uuid),
    file as (
      insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
      select $2::uuid, tenant_id, 'image.png', 'image/png', 1, repeat('0', 64) from owner
      returning id
    ),
    image as (
      insert into dws.image (id, tenant_id, user_id, file_id, sealed_prompt, model)
      select $3::uuid, owner.tenant_id, owner.id, file.id, $4, 'draw' from owner, file
    )
    insert into dws.ai_call (id, tenant_id, actor, user_id, action, entity_type, entity_id, provider_id, provider_name,
      own_provider, model, duration, status, sealed_prompt)
    select $5::uuid, tenant_id, 'user:' || id, id, 'image', 'user', id, $6::uuid, 'Models', false, 'draw', 1, 'succeeded', $4
    from owner`,
    user.id,
    newId(),
    imageId,
    service.platform.secrets.seal('A twin'),
    callId,
    newId(),
  );
  return { imageId, callId };
}

import { Agent } from '../../../entities/agent.ts';
import { Assistant } from '../../../entities/assistant.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { Image } from '../../../entities/image.ts';
import { Toolkit } from '../../../entities/toolkit.ts';
import { BOUND_APPS_OF_ASSISTANT } from '../agent/event-bindings.ts';
import { hasMany, hasManyJoined } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

/** SQL that joins the rows `r` whose ids are in a list of the assistant `p`. */
const inList = (column: string): string =>
  `r.id = any (array(select e::uuid from jsonb_array_elements_text(p.${column}) e))`;

/** SQL of the columns of the stored file of a picture of the assistant `p` that responses need; null without one. */
const storedPicture = (column: string): string => `(
  select json_build_object('id', f.id, 'contentType', f.content_type, 'sha256', f.sha256, 'size', f.size)
  from dws.stored_file f
  where f.tenant_id = p.tenant_id and f.id = p.${column})`;

export const assistantModel = defineOwnedModel(Assistant, {
  relations: {
    toolkits: hasManyJoined(Toolkit, inList('toolkit_ids'), 'name'),
    agents: hasMany(Agent, 'assistant_id', 'name'),
    datasets: hasManyJoined(Dataset, inList('dataset_ids'), 'name'),
    images: hasMany(Image, 'assistant_id', '-createdAt'),
  },
  computed: {
    boundApps: BOUND_APPS_OF_ASSISTANT,
    uploadedIcon: { sql: storedPicture('uploaded_icon_id'), type: 'json' },
    uploadedFavicon: { sql: storedPicture('favicon_id'), type: 'json' },
  },
});

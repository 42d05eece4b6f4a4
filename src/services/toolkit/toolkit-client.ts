import type { Toolkit } from '../../../entities/toolkit.ts';
import type { OAuthClient } from '../../core/connection.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';

/** Finds the authorization server of a toolkit and registers this service there. Placeholder until branch `mcp` is merged. */
export function createToolkitClient(_ctx: Context, { name }: Toolkit): Promise<OAuthClient> {
  return Promise.reject(conflict(`The toolkit ${name} needs no authorization`));
}

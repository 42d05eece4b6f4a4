import { existsSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { gone } from '../../../core/errors.ts';
import { quotePath } from './generation-files.ts';

/** Files that stay attached though nobody reads them: each costs about 7 MB once read. */
const KEPT = 16;

interface Attachment {
  alias: string;
  ready: Promise<void>;
  readers: number;
  /** Its file was dropped: it is let go of with its last reader. */
  dropped: boolean;
}

/** Which files the serving instance has open, read-only; the least recently used are let go of. */
export class Attachments {
  readonly #connection: DuckDBConnection;
  /** In the order of use, the latest last. */
  readonly #attached = new Map<string, Attachment>();
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param connection used for nothing else, since attaching is a statement too */
  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /**
   * The file's name in statements, until `release`.
   * @throws gone when there is no such file.
   */
  async acquire(path: string): Promise<string> {
    const attachment = this.#attached.get(path) ?? this.#attach(path);
    attachment.readers += 1;
    this.#attached.delete(path);
    this.#attached.set(path, attachment);
    try {
      await attachment.ready;
      return attachment.alias;
    } catch (error) {
      if (this.#attached.get(path) === attachment) this.#attached.delete(path);
      throw existsSync(path) ? error : gone('These rows are no longer kept', { cause: error });
    }
  }

  async release(path: string): Promise<void> {
    const attachment = this.#attached.get(path);
    if (attachment) attachment.readers -= 1;
    for (const [idle, { readers, dropped }] of this.#attached)
      if (readers === 0 && (dropped || this.#attached.size > KEPT)) await this.#detach(idle);
  }

  /** Lets go of the files below a folder that is about to be deleted; their readers keep reading to their end. */
  async forget(folder: string): Promise<void> {
    for (const [path, attachment] of this.#attached) {
      if (!path.startsWith(`${folder}/`)) continue;
      attachment.dropped = true;
      if (attachment.readers === 0) await this.#detach(path);
    }
  }

  #attach(path: string): Attachment {
    const alias = `g${this.#count++}`;
    return { alias, ready: this.#run(`ATTACH ${quotePath(path)} AS ${alias} (READ_ONLY)`), readers: 0, dropped: false };
  }

  async #detach(path: string): Promise<void> {
    const attachment = this.#attached.get(path)!;
    this.#attached.delete(path);
    await this.#run(`DETACH ${attachment.alias}`);
  }

  /** One after the other: a file that is attached again must have been detached before. */
  #run(sql: string): Promise<void> {
    const ran = this.#last.then(async () => {
      await this.#connection.run(sql);
    });
    this.#last = ran.catch(() => {});
    return ran;
  }
}

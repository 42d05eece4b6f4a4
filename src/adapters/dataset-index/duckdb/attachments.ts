import { existsSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { gone } from '../../../core/errors.ts';
import { quotePath } from './generation-files.ts';

/** Maximum number of attached files without readers. Each costs about 7 MB once read. */
const KEPT = 16;

interface Attachment {
  alias: string;
  ready: Promise<void>;
  readers: number;
  /** Whether its file was dropped. It is then detached after its last reader. */
  dropped: boolean;
}

/** The files that the serving instance has attached, read-only. The least recently used are detached. */
export class Attachments {
  readonly #connection: DuckDBConnection;
  /** In the order of use, the latest last. */
  readonly #attached = new Map<string, Attachment>();
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** `connection` is used for nothing else, because attaching is a statement too. */
  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** Returns the file's name in statements, valid until `release`. Throws GONE for a missing file. */
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
      throw existsSync(path) ? error : gone('These rows are no longer stored', { cause: error });
    }
  }

  async release(path: string): Promise<void> {
    const attachment = this.#attached.get(path);
    if (attachment) attachment.readers -= 1;
    for (const [idle, { readers, dropped }] of this.#attached)
      if (readers === 0 && (dropped || this.#attached.size > KEPT)) await this.#detach(idle);
  }

  /** Detaches the files below a folder that is about to be deleted. Their readers can read to the end. */
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

  /** Statements run one after the other: a file must be detached before it is attached again. */
  #run(sql: string): Promise<void> {
    const ran = this.#last.then(async () => {
      await this.#connection.run(sql);
    });
    this.#last = ran.catch(() => {});
    return ran;
  }
}

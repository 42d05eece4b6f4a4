/**
 * Sandbox process: runs one program at a time, each in a fresh isolate. It never ends an isolate that runs, because
 * that crashes. It reports the violation instead, and the service kills the process. It imports nothing outside of its
 * folder but isolated-vm, since the permission model lets it read nothing else.
 */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type * as IsolatedVm from 'isolated-vm';
import { ProgramRun } from './program-run.ts';
import type { FromSandbox, ToSandbox } from './sandbox-message.ts';

const WATCH_MS = 20;
/** Memory of the process in addition to the heap of the program: Node, copies of input and output. */
const OWN_MEMORY_BYTES = 300 * 1024 ** 2;
/** A process that retains more memory after a program is not used again. */
const MAX_KEPT_BYTES = 250 * 1024 ** 2;

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const send = (message: FromSandbox, sent: () => void = () => {}): void => {
  if (process.connected) process.send!(message, undefined, undefined, sent);
};

// The heap of this process has already taken over its limit, which would otherwise replace the limit of the isolates.
setFlagsFromString('--max-old-space-size=0');

const [library, account] = process.argv.slice(2) as [string, string];
const ivm = createRequire(import.meta.url)(library) as typeof IsolatedVm;
dropRights(account);

let run: ProgramRun | undefined;
let snapshot: IsolatedVm.ExternalCopy<ArrayBuffer> | undefined;

/** Changes to an account without rights, which needs no access to the files of the service. */
function dropRights(text: string): void {
  if (text === '') return;
  const [uid, gid] = text.split(':').map(Number) as [number, number];
  process.setgroups!([]);
  process.setgid!(gid);
  process.setuid!(uid);
}

process.on('message', (message: ToSandbox) => {
  if (message.kind === 'prepare')
    snapshot = ivm.Isolate.createSnapshot([{ code: message.prelude, filename: 'sandbox:prelude' }], message.warmUp);
  else if (message.kind === 'reply') run?.reply(message.call, message.result);
  else {
    const started = new ProgramRun(ivm, snapshot!, message.task, send);
    run = started;
    void started.start().then((result) => {
      if (run !== started) return;
      run = undefined;
      if (result) send({ ...result, isReusable: result.isReusable && process.memoryUsage.rss() < MAX_KEPT_BYTES });
    });
  }
});
process.on('disconnect', end);
process.on('SIGTERM', end);
setInterval(() => {
  if (!run) return;
  const rss = process.memoryUsage.rss();
  run.observeMemory(rss);
  if (rss <= OWN_MEMORY_BYTES + run.memoryBytes) return;
  run.abandon();
  const { memoryMessage: text, memoryBytes } = run;
  send({ kind: 'failed', reason: 'memory', message: text, places: [], memoryBytes, isReusable: false }, end);
}, WATCH_MS);
// The parent may have ended before.
if (process.connected) send({ kind: 'ready' });
else end();

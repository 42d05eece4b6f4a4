/**
 * Letterhead process: reads one letterhead and lays it under a printed document, so that no malicious PDF blocks or ends a
 * process of the service. It ends when the parent's channel closes. The parent
 * watches its memory.
 */
import { ApiError } from '../../core/errors.ts';
import { stackOf } from '../process/program-error.ts';
import { showSpare } from '../process/spare-process.ts';
import type { FromLetterheadProcess, ToLetterheadProcess } from './letterhead-task.ts';

const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const send = (message: FromLetterheadProcess): void => {
  process.send?.(message);
};

async function run({ printed, letterhead }: Extract<ToLetterheadProcess, { kind: 'lay' }>): Promise<void> {
  try {
    const [{ PDFDocument }, { embedLetterhead, layUnderPages }] = await load();
    const document = await PDFDocument.load(printed, { updateMetadata: false });
    const embedded = await embedLetterhead(document, letterhead);
    send({ kind: 'read' });
    layUnderPages(document, embedded);
    send({ kind: 'result', content: await document.save({ useObjectStreams: false, addDefaultPage: false }) });
  } catch (error) {
    if (error instanceof ApiError) send({ kind: 'refused', message: error.message });
    else send({ kind: 'broken', message: stackOf(error) });
  }
}

const load = () => Promise.all([import('@cantoo/pdf-lib'), import('./lay-letterhead.ts')]);

process.umask(0o077);
process.on('message', (message: ToLetterheadProcess) => {
  showSpare(message.kind === 'prepare');
  // A failure is an error of the task.
  if (message.kind === 'prepare') void load().catch(() => {});
  else void run(message);
});
process.on('disconnect', end);
// The parent may have ended before.
if (!process.connected) end();
process.on('SIGTERM', end);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { childEnvironment } from '../../src/core/process-environment.ts';

/** Output of a pasted block. */
interface PastedResult {
  /** Lines on standard output. */
  lines: string[];
  /** Text on the terminal: the block itself, prompts, and errors of the commands and of bash. */
  terminal: string;
}

/** An interactive bash on a terminal of its own. */
export interface PastedShell {
  /** Pastes a block, bracketed as terminals do or as if typed, and waits until all of it ran. */
  paste(block: string, bracketed: boolean): Promise<PastedResult>;
  close(): Promise<void>;
}

/** Starts an interactive bash in `folder`. `variables` are added to its environment. */
export function startShell(folder: string, variables: Record<string, string>): PastedShell {
  // A file, because the terminal shows the echo of the input and prompts too.
  const file = join(folder, 'stdout');
  writeFileSync(file, '');
  const child = spawn('script', ['-qefc', 'exec bash --norc --noprofile -i', '/dev/null'], {
    cwd: folder,
    env: { ...childEnvironment(), HOME: folder, TERM: 'xterm', PS1: '> ', HISTFILE: '', NO_COLOR: '1', ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let terminal = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    terminal += chunk;
  });
  let number = 0;
  const run = async (input: string): Promise<PastedResult> => {
    number += 1;
    const end = `end ${number}\n`;
    const [start, terminalStart] = [readFileSync(file).length, terminal.length];
    child.stdin.write(`${input}\r echo "end ${number}" >> '${file}'\r`);
    while (!readFileSync(file, 'utf8').endsWith(end)) await setTimeout(50);
    const printed = readFileSync(file).subarray(start).toString().slice(0, -end.length);
    return { lines: printed.split(/\r?\n/).filter(Boolean), terminal: terminal.slice(terminalStart) };
  };
  const ready = run(`exec >> '${file}'`);
  return {
    async paste(block, bracketed) {
      await ready;
      return run(bracketed ? `\x1b[200~${block}\x1b[201~` : block.replaceAll('\n', '\r'));
    },
    async close() {
      child.stdin.end('exit\r');
      await ended;
    },
  };
}

import { fork, type ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../core/process-environment.ts';
import { lowerProcessPriority } from './priority.ts';

/**
 * Starts a program of the service in a child process of low priority, with an IPC channel and a readable stderr.
 * `options` are options of Node.
 */
export function startProgram(program: URL, options: readonly string[] = []): ChildProcess {
  const child = fork(program, {
    // In a separate process group, so that Ctrl-C reaches only the parent.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning', ...options],
    env: childEnvironment(),
  });
  lowerProcessPriority(child.pid);
  return child;
}

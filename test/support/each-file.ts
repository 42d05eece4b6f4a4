/**
 * Runs before each test file, also in shared processes: there, the modules that test files import run once, and so would
 * their hooks.
 */
import { afterAll, afterEach } from 'vitest';
import { closeAfterFailures, noteFailure } from './failed-attempts.ts';
import { keepDatabases } from './postgres.ts';

afterEach(keepDatabases);
afterEach(noteFailure);
afterAll(closeAfterFailures);

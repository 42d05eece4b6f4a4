/**
 * Runs before each test file, also in shared processes: there, the modules that test files import run once, and so would
 * their hooks.
 */
import { afterEach } from 'vitest';
import { keepDatabases } from './postgres.ts';

afterEach(keepDatabases);

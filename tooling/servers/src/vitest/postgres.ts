import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../postgres.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the Postgres that all test files of the run share. */
    postgres: string;
  }
}

/** Vitest's `globalSetup`: one Postgres for all test files of a package's run. A file gets it by `inject('postgres')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide('postgres', server.url);
  return () => server.close();
}

import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startMariaDb } from '../mariadb.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the MariaDB that all test files of the run share, its superuser in it. */
    mariadb: string;
  }
}

/** Vitest's `globalSetup`: one MariaDB for all test files of a package's run. A file gets it by `inject('mariadb')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startMariaDb();
  project.provide('mariadb', server.url);
  return () => server.close();
}

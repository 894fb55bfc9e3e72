import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startMariaDb, startOldMariaDb } from '../mariadb.js';
import { startMysql } from '../mysql.js';
import type { Server } from '../server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URLs of the servers that all test files of the run share, their superuser in them. */
    mysql: string;
    oldMariadb: string;
  }
}

/** Vitest's `globalSetup` for tests on every server of the family: `mariadb`, `mysql` and `oldMariadb`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers: Server[] = [];
  const started = async (server: Promise<Server>) => {
    servers.push(await server);
    return (await server).url;
  };
  const close = async () => {
    for (const server of servers) await server.close();
  };
  try {
    // One after the other: the first time, each makes a Debian of its own.
    project.provide('mariadb', await started(startMariaDb()));
    project.provide('mysql', await started(startMysql()));
    project.provide('oldMariadb', await started(startOldMariaDb()));
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startRedis } from '../redis.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the Redis that all test files of the run share. Each test has a prefix of its own. */
    redis: string;
  }
}

/** Vitest's `globalSetup`: one Redis for all test files of a package's run. A file gets it by `inject('redis')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startRedis();
  project.provide('redis', server.url);
  return () => server.close();
}

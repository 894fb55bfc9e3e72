import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startRegistry } from './registry.js';
import { type Release, rehearse } from './release.js';

declare module 'vitest' {
  interface ProvidedContext {
    release: Release;
  }
}

/** Vitest's `globalSetup`: every package released to a registry of our own, which is there until the tests are over. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'q-packages-'));
  const registry = await startRegistry(join(folder, 'registry'));
  const close = async () => {
    await registry.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    project.provide('release', await rehearse(folder, registry));
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WorkspaceCopy } from '../src/workspace-copy.js';

/** The real `changeset version`, in a copy of this repository in which everything has been released once. */
describe('the next release', () => {
  let folder: string;
  let copy: WorkspaceCopy;
  let released: string;
  let before: Map<string, string>;
  let ranges: Set<string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'q-versions-'));
    copy = await WorkspaceCopy.make(folder);
    await copy.version();
    released = await copy.head();
    before = await versions();
    ranges = await rangesOfCore();
  });
  beforeEach(() => copy.goBackTo(released));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(['@q/driver-pg', '@q/driver-mysql', '@q/driver-sqlite', '@q/driver-redis'])(
    'of a patch of %s is a release of that driver alone',
    async (driver) => {
      await copy.addChangeset({ [driver]: 'patch' });
      await copy.version();
      expect(await raised()).toEqual({ [driver]: 'patch' });
    },
  );

  test.each(['patch', 'minor'] as const)('of a %s of core leaves every driver as it is', async (size) => {
    await copy.addChangeset({ '@q/core': size });
    await copy.version();
    expect(await raised()).toEqual({ '@q/core': size });
    expect(await rangesOfCore()).toEqual(ranges);
  });

  test('of a minor of core and of a driver that needs it is a minor of both', async () => {
    await copy.addChangeset({ '@q/core': 'minor', '@q/driver-pg': 'minor' });
    await copy.version();
    expect(await raised()).toEqual({ '@q/core': 'minor', '@q/driver-pg': 'minor' });
  });

  test('of a major of core is a major of everything that is built on it', async () => {
    await copy.addChangeset({ '@q/core': 'major' });
    await copy.version();
    expect(await raised()).toEqual(Object.fromEntries([...before.keys()].map((name) => [name, 'major'])));
    expect(await rangesOfCore()).toEqual(new Set([`workspace:^${(await versions()).get('@q/core')}`]));
  });

  async function versions(): Promise<Map<string, string>> {
    return new Map([...(await copy.manifests())].map(([name, { version }]) => [name, version]));
  }

  /** The packages with another version than before, and which part of it has risen. */
  async function raised(): Promise<Record<string, string>> {
    const now = [...(await versions())].filter(([name, version]) => version !== before.get(name));
    return Object.fromEntries(now.map(([name, version]) => [name, partRaised(before.get(name) ?? '', version)]));
  }

  async function rangesOfCore(): Promise<Set<string>> {
    const ranges = [...(await copy.manifests()).values()].map(({ peerDependencies }) => peerDependencies?.['@q/core']);
    return new Set(ranges.filter((range) => range !== undefined));
  }
});

function partRaised(from: string, to: string): string {
  const [a, b] = [from.split('.'), to.split('.')];
  return ['major', 'minor', 'patch'].find((_, index) => a[index] !== b[index]) ?? 'none';
}

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Registry } from './registry.js';
import { run } from './run.js';
import { type Manifest, WorkspaceCopy } from './workspace-copy.js';

/** What was published: the tarballs as the registry has them. */
export interface Release {
  /** A folder for whatever the tests write, outside the workspace. */
  readonly folder: string;
  readonly registry: string;
  readonly packages: readonly Published[];
}

export interface Published {
  readonly name: string;
  readonly version: string;
  /** As it is in the tarball. */
  readonly manifest: Manifest;
  readonly tarball: string;
  /** Of the tarball, as it is downloaded. */
  readonly bytes: number;
  /** The tarball, unpacked. */
  readonly unpacked: string;
}

export function published({ packages }: Release, name: string): Published {
  const found = packages.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} was not released`);
  return found;
}

/** Releases every package as the workflow does, `changeset version` and `changeset publish`, to a registry of our own. */
export async function rehearse(folder: string, registry: Registry): Promise<Release> {
  const copy = await WorkspaceCopy.make(join(folder, 'workspace'));
  await copy.version();
  await publish(copy, registry.url);

  const packages: Published[] = [];
  for (const { name, version } of (await copy.manifests()).values()) {
    const tarball = registry.tarball(name, version);
    const unpacked = join(folder, 'unpacked', name);
    await mkdir(unpacked, { recursive: true });
    await run(['tar', '-xzf', tarball, '--strip-components=1'], unpacked);
    const manifest = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8'));
    packages.push({ name, version, manifest, tarball, bytes: (await stat(tarball)).size, unpacked });
  }
  return { folder, registry: registry.url, packages };
}

/** No publish may ever leave this machine: pnpm is asked first where it would go. */
async function publish(copy: WorkspaceCopy, url: string): Promise<void> {
  const npmrc = join(copy.folder, '.npmrc');
  await writeFile(npmrc, `registry=${url}\n@q:registry=${url}\n${url.replace(/^http:/, '')}:_authToken=nobody\n`);
  const env = { npm_config_userconfig: npmrc, npm_config_registry: url, pnpm_config_registry: url };
  for (const key of ['registry', '@q:registry']) {
    const goesTo = (await run(['pnpm', 'config', 'get', key], join(copy.folder, 'packages', 'core'), env)).trim();
    if (goesTo !== url) throw new Error(`pnpm would publish to another registry than that of the rehearsal (${key})`);
  }
  await copy.changeset('publish', env);
}

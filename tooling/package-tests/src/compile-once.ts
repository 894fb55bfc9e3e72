import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Project } from './project.js';

const WORKSPACE = fileURLToPath(new URL('../../../packages/driver-sqlite/node_modules', import.meta.url));

/** Compiled in this process, by name and version. */
const compiled = new Map<string, string>();

/**
 * Compiles a package of a project that was installed without its scripts, unless this run or the install of the workspace
 * has compiled that very version already: then takes what came of it, which takes no minute.
 */
export async function compileOnce(project: Project, name: string, binary: string): Promise<void> {
  const version = await project.versionOf(name);
  const key = `${name}@${version}`;
  const target = join(project.folder, 'node_modules', name, binary);
  const known = compiled.get(key) ?? (await workspaceBuild(name, version, binary));
  if (known === undefined) {
    await project.compile(name);
    compiled.set(key, target);
  } else {
    await mkdir(dirname(target), { recursive: true });
    await copyFile(known, target);
  }
}

async function workspaceBuild(name: string, version: string, binary: string): Promise<string | undefined> {
  const manifest = await readFile(join(WORKSPACE, name, 'package.json'), 'utf8');
  return JSON.parse(manifest).version === version ? join(WORKSPACE, name, binary) : undefined;
}

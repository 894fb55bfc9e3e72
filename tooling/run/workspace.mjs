// The packages of the workspace, read from disk: what pnpm-workspace.yaml says in three globs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exists, root } from './steps.mjs';

/** @returns {{ folder: string, manifest: Record<string, any> }[]} every package but the root, `folder` relative to it */
export function packages() {
  return ['packages', 'tooling', 'examples'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => join(group, name))
      .filter((folder) => exists(join(root, folder, 'package.json')))
      .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) })),
  );
}

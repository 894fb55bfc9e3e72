import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './finding.js';
import { TEXT_RULES } from './rules.js';

/** Looks through every text file that git has, or would take with `git add .`, for what is true on one machine only. */
export function checkCommittedText(root: string): Finding[] {
  return filesOf(root).flatMap((path) => {
    const rules = TEXT_RULES.filter(({ files, except }) => (files?.test(path) ?? true) && !except?.test(path));
    const content = readFileSync(join(root, path));
    if (content.includes(0)) return [];
    const lines = content.toString('utf8').split('\n');
    return lines.flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ what }) => ({ where: `${path}:${index + 1}`, what: `names ${what}` })),
    );
  });
}

function filesOf(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  // A file deleted but not yet committed is still listed.
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { output } from './places.js';
import { canInstall, folderWith, installPackage } from './sources.js';

export interface ChrootOptions {
  /** The release of Debian: `sid`, `bullseye`. */
  readonly suite: string;
  /** Packages to install, besides what Debian cannot do without. */
  readonly packages: readonly string[];
}

const SOURCES = '/etc/apt';

/** Whether this process may make a Debian of another release in a folder. */
export function canDebootstrap(): boolean {
  return canInstall() && archive() !== null;
}

/**
 * The folder of a small Debian of another release, for programs that this machine's has not. Made once, from where this
 * machine gets its own packages, and kept among the system's temporary files.
 */
export async function debianChroot({ suite, packages }: ChrootOptions): Promise<string> {
  const key = createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 8);
  const folder = join(tmpdir(), `q-chroot-${suite}-${key}`);
  if (existsSync(folder)) return folder;
  const source = archive();
  if (source === null) throw new Error(`apt does not say where packages come from, so there is no Debian ${suite}`);
  if (folderWith('debootstrap', ['/usr/sbin']) === null) await installPackage('debootstrap');
  // Under another name until it is whole: whoever starts at the same moment makes one too, and the first stays.
  const building = `${folder}.${process.pid}`;
  try {
    await output('debootstrap', ['--variant=minbase', `--include=${packages.join()}`, suite, building, source]);
    if (!existsSync(folder)) renameSync(building, folder);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return folder;
}

/** Where apt gets the packages of this machine's own release. */
function archive(): string | null {
  const folder = join(SOURCES, 'sources.list.d');
  const stanzas = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sources')) : [];
  const found = stanzas.flatMap((name) => readFileSync(join(folder, name), 'utf8').split(/\n\s*\n/)).find(isOfDebian);
  const uri = found === undefined ? null : /^URIs:\s*(\S+)/m.exec(found)?.[1];
  if (uri !== null && uri !== undefined) return uri;
  const list = join(SOURCES, 'sources.list');
  const line = existsSync(list)
    ? /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+[a-z]+\s+main\b/m.exec(readFileSync(list, 'utf8'))
    : null;
  return line?.[1] ?? null;
}

/** Not the archive of security updates, whose suites are `<release>-security`, nor those of others. */
function isOfDebian(stanza: string): boolean {
  return /^Suites:\s*[a-z]+(?:\s|$)/m.test(stanza) && /^Components:.*\bmain\b/m.test(stanza) && /debian/i.test(stanza);
}

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HOME = join(import.meta.dirname, '..');
const ROOT = join(HOME, '..', '..');

const exec = promisify(execFile);

/** The lines that docs/transactions.md has for a library, as they stand there. */
function linesFor(library: string): string {
  const page = readFileSync(join(ROOT, 'docs', 'transactions.md'), 'utf8');
  const block = new RegExp(`<!-- prelude: ${library} -->\n\`\`\`ts [^\n]*\n(.*?)\`\`\``, 's').exec(page)?.[1];
  if (block === undefined) throw new Error(`docs/transactions.md has no lines for ${library}`);
  return block;
}

/** A package of ours as a tarball in `folder`, with the versions that pnpm would put in place of its workspace ranges. */
export async function pack(name: string, folder: string): Promise<string> {
  const source = join(ROOT, 'packages', name);
  const copy = join(folder, name);
  mkdirSync(copy);
  for (const part of ['dist', 'src']) cpSync(join(source, part), join(copy, part), { recursive: true });
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  writeFileSync(join(copy, 'package.json'), JSON.stringify(manifest).replaceAll('"workspace:', '"'));
  const { stdout } = await exec('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: copy });
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
}

/** `name@version`, as it is installed here. */
export function specOf(name: string): string {
  return `${name}@${JSON.parse(readFileSync(join(HOME, 'node_modules', name, 'package.json'), 'utf8')).version}`;
}

export interface Program {
  readonly library: string;
  readonly folder: string;
  /** Tarballs of ours, and packages with their versions. */
  readonly packages: readonly string[];
  /** What has to be there beside it before it is compiled. */
  readonly prepare: ((folder: string) => Promise<void>) | null;
}

/** An empty project with the lines in it, twice: as they stand, and with an error at the end of the transaction. */
export async function makeProject({ library, folder, packages, prepare }: Program): Promise<void> {
  mkdirSync(folder);
  const prelude = readFileSync(join(HOME, 'preludes', `${library}.ts`), 'utf8');
  const lines = linesFor(library);
  const settings = { target: 'es2022', module: 'nodenext', strict: true, skipLibCheck: true, types: ['node'] };
  const files = {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...settings, outDir: 'out' }, include: ['*.ts'] }),
    'commits.ts': `${prelude}\n${lines}process.exit();\n`,
    'throws.ts': `${prelude}\n${lines.replace(/\}\);\n$/, "  throw new Error('taken back');\n});\n")}`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await exec('npm', ['install', ...flags, ...packages, ...['typescript', '@types/node'].map(specOf)], { cwd: folder });
  await prepare?.(folder);
  await exec(process.execPath, [join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], { cwd: folder });
}

/** Prisma's client for the project. Its command is told of a schema engine, so that it fetches none: it needs none. */
export async function generatePrisma(folder: string): Promise<void> {
  const schema = `
generator client {
  provider            = "prisma-client"
  output              = "./generated"
  importFileExtension = "js"
}

datasource db {
  provider = "postgresql"
}

model Payment {
  id     Int @id @default(autoincrement())
  amount Int

  @@map("payments")
}
`;
  writeFileSync(join(folder, 'schema.prisma'), schema);
  const prisma = join(folder, 'node_modules', 'prisma', 'build', 'index.js');
  await exec(process.execPath, [prisma, 'generate', '--schema', 'schema.prisma'], {
    cwd: folder,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  });
}

/** better-sqlite3 was installed without being compiled: what was compiled here is of the same version. */
export async function copyCompiled(folder: string): Promise<void> {
  const path = join('node_modules', 'better-sqlite3', 'build');
  cpSync(join(realpathSync(join(HOME, 'node_modules', 'better-sqlite3')), 'build'), join(folder, path), {
    recursive: true,
    dereference: true,
  });
}

/** Runs one of the two programs to its end. */
export async function run(folder: string, program: 'commits' | 'throws', place: string): Promise<string> {
  const env = { ...process.env, DATABASE_URL: place };
  const { stdout, stderr } = await exec(process.execPath, [join('out', `${program}.js`)], { cwd: folder, env });
  return stdout + stderr;
}

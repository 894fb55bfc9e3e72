import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { PRISMA_PROVIDERS, prismaFolder } from '../src/libraries/prisma.js';

const exec = promisify(execFile);

/**
 * Vitest's `globalSetup`: generates the Prisma clients. Prisma's command fetches its schema engine first, which `generate`
 * does not use; where it is told of one it fetches none, and needs no network.
 */
export default async function setup(): Promise<void> {
  const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
  for (const provider of PRISMA_PROVIDERS) {
    const folder = prismaFolder(provider);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const schema = `${folder}.prisma`;
    writeFileSync(schema, schemaFor(provider));
    await exec(process.execPath, [prisma, 'generate', '--schema', schema], {
      cwd: folder,
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
    });
  }
}

function schemaFor(provider: string): string {
  return `
generator client {
  provider = "prisma-client"
  output   = "./prisma-${provider}"
}

datasource db {
  provider = "${provider}"
}

model Note {
  id   Int    @id @default(autoincrement())
  text String @unique

  @@map("notes")
}
`;
}

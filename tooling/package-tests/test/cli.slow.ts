import { beforeAll, describe, expect, inject } from 'vitest';
import { check } from '../src/check.js';
import { checkExports } from '../src/exports.js';
import { copyPrograms } from '../src/installs.js';
import { Project } from '../src/project.js';
import { published } from '../src/release.js';
import { STORES } from '../src/stores.js';

const row = '@q/cli and @q/conformance, by npm';
const inTable = (column: string) => ({ table: 'installed', row, column });
const Q = 'node_modules/.bin/q';

const CONFIG = `
import { defineConfig } from '@q/cli';
import { openQueue } from './queue.js';

export default defineConfig(await openQueue(process.env.QUEUE_URL ?? ''));
`;

describe('the command, beside a driver', () => {
  const release = inject('release');
  const ours = ['@q/core', '@q/cli', '@q/conformance', '@q/driver-pg'].map((name) => published(release, name));
  let project: Project;
  let url: string;

  beforeAll(async () => {
    project = await Project.make(release, 'npm');
    url = await STORES.pg.open();
    await copyPrograms(STORES.pg, project);
    await project.write({ 'q.config.ts': CONFIG });
  });

  check(inTable('install'), 'installs', () => project.install([...ours, 'pg', '@types/pg', 'fast-check@4']));

  checkExports(row, ours, () => project);

  check(inTable('job'), 'reads its config in TypeScript, and runs a job', async () => {
    const env = { QUEUE_URL: url };
    expect(await project.node([Q, 'status'], env)).toContain('No jobs queued.');
    await project.node(['nodenext/producer.js'], env);
    expect(await project.node([Q, 'work', '--once'], env)).toContain('Hello, Ada\n');
    expect(await project.node([Q, 'status'], env)).toContain('No jobs queued.');
  });
});

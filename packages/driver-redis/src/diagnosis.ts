import type { Finding } from '@q/core';
import { clockFinding } from '@q/core/driver-kit';
import type { Context } from './context.js';
import { fieldOf } from './server.js';

/**
 * What the server and its settings are like, for `q doctor`. Rejects where the server cannot be asked, and for one before
 * 6.2. Of a cluster it is the node that has the prefix.
 */
export async function diagnose({ connection, now }: Context): Promise<Finding[]> {
  const before = now();
  const { epochMs, info } = await connection.ask();
  const clock = clockFinding({ before, after: now() }, new Date(epochMs));
  const version = fieldOf(info, 'redis_version');
  if (version === null) return [SILENT, clock];
  return [
    { level: 'ok', code: 'server_version', message: `Redis ${version}` },
    evictionFinding(fieldOf(info, 'maxmemory_policy') ?? 'noeviction'),
    persistenceFinding(fieldOf(info, 'aof_enabled') === '1'),
    roleFinding(fieldOf(info, 'role') ?? 'master'),
    clock,
  ];
}

const SILENT: Finding = {
  level: 'warning',
  code: 'server_version',
  message: 'The server does not say what it is, since this user may not ask (INFO)',
  advice: 'Allow the user +info, or see to it that it is Redis 6.2 or later with maxmemory-policy noeviction',
};

function evictionFinding(policy: string): Finding {
  const code = 'eviction_policy';
  if (policy === 'noeviction') return { level: 'ok', code, message: 'Nothing is evicted (noeviction)' };
  return {
    // The keys of the queue never expire, so a policy that evicts only what does leaves them alone.
    level: policy.startsWith('volatile-') ? 'warning' : 'error',
    code,
    message: policy.startsWith('volatile-')
      ? `The eviction policy is ${policy}; it leaves the queue's keys alone, as they never expire`
      : `The eviction policy is ${policy}, so jobs are thrown away when the memory is used up`,
    advice: 'Set maxmemory-policy to noeviction: then a push is refused when the memory is used up, and no job is lost',
  };
}

function persistenceFinding(isAppendOnly: boolean): Finding {
  const code = 'persistence';
  if (isAppendOnly) return { level: 'ok', code, message: 'What is written is kept in the append-only file' };
  return {
    level: 'warning',
    code,
    message: 'There is no append-only file, so a crash of the server loses what was pushed since its last snapshot',
    advice: 'Set appendonly to yes, unless you can afford to lose jobs',
  };
}

function roleFinding(role: string): Finding {
  if (role === 'master') return { level: 'ok', code: 'read_only', message: 'The server takes writes' };
  const message = 'The server is a replica, and takes no writes';
  return { level: 'error', code: 'read_only', message, advice: 'Connect to the primary' };
}

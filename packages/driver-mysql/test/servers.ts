import type {} from '@q/servers/vitest/mysql-family';
import { inject } from 'vitest';

/** Every server of the slow tier. */
export const SERVERS = [
  { name: 'MariaDB', url: () => inject('mariadb'), skipsLocked: true, unlocksPassed: false },
  { name: 'MySQL', url: () => inject('mysql'), skipsLocked: true, unlocksPassed: true },
  { name: 'MariaDB 10.5', url: () => inject('oldMariadb'), skipsLocked: false, unlocksPassed: true },
] as const;

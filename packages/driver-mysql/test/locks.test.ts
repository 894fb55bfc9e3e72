import { inject } from 'vitest';
import { useDatabase } from './fixtures.js';
import { describeLocks } from './locks.js';

const database = useDatabase(() => inject('mariadb'));

describeLocks('MariaDB', database.url, { skipsLocked: true, unlocksPassed: false });

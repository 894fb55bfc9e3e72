import { startMariaDb } from '@q/servers';
import { describeFamily } from './mysql-family.js';

describeFamily('A MariaDB', /mariadb/i, startMariaDb);

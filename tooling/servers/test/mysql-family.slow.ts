import { startMysql, startOldMariaDb } from '@q/servers';
import { describeFamily } from './mysql-family.js';

describeFamily('A MySQL', /^(?:[89]|\d\d)\.\d+\.\d+(?!.*mariadb)/i, startMysql);
describeFamily('A MariaDB 10.5', /^10\.5\..*mariadb/i, startOldMariaDb);
